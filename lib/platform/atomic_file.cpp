// Writing files.
