// Opening beneath a folder.
