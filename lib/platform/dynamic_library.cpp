// dlopen.
