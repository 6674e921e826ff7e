#!/usr/bin/env bash
# linked_libraries.sh BIN_FOLDER: the programs start on a machine without CUDA, because none of its libraries is linked; what
# runs and shows plans needs nothing but the C and C++ runtimes.
set -euo pipefail
checked=0
for program in "$1"/ge-*; do
  libraries=$(ldd "$program")
  if grep -iE 'cuda|cublas|nvrtc|nvidia|cudnn|python' <<<"$libraries"; then
    echo "$program links the libraries above; they must be opened at run time"
    exit 1
  fi
  # Sanitizers come with the compiler; ld-linux and the vdso are no files that could be missing.
  if [ "$(basename "$program")" != ge-compile ] &&
    awk '{ print $1 }' <<<"$libraries" |
    grep -vE '^(lib(stdc\+\+|m|gcc_s|c|pthread|dl|rt|asan|ubsan|tsan|gcov)\.so|linux-vdso|/.*/ld-linux)'; then
    echo "$program links the libraries above; what runs plans needs the C and C++ runtimes alone"
    exit 1
  fi
  checked=$((checked + 1))
done
[ "$checked" -ge 2 ] || { echo "found $checked programs in $1"; exit 1; }
echo "$checked programs link no CUDA library"
