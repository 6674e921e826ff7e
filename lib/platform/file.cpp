// Reading files.
