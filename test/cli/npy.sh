# Makes npy files without Python, for tests. Sourced.

# npy FILE DESCR SHAPE BYTES [FORTRAN]: an npy file of version 1.0 whose data is BYTES zero bytes.
npy() {
  local header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': $3, }"
  local size=$(((10 + ${#header} + 1 + 63) / 64 * 64 - 10))
  {
    printf '\x93NUMPY\x01\x00'
    printf "\\x$(printf %02x $((size % 256)))\\x$(printf %02x $((size / 256)))"
    printf "%-$((size - 1))s\n" "$header"
    head -c "$4" /dev/zero
  } >"$1"
}
