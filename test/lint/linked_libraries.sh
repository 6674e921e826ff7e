#!/usr/bin/env bash
# linked_libraries.sh BIN_FOLDER: the programs start on a machine without CUDA, because none of its libraries is linked; what
# runs plans needs no protobuf, which reads ONNX files.
set -euo pipefail
checked=0
for program in "$1"/ge-*; do
  libraries=$(ldd "$program")
  if grep -iE 'cuda|cublas|nvrtc|nvidia|cudnn|python' <<<"$libraries"; then
    echo "$program links the libraries above; they must be opened at run time"
    exit 1
  fi
  if [ "$(basename "$program")" != ge-compile ] && grep -i protobuf <<<"$libraries"; then
    echo "$program links protobuf; only ge-compile may"
    exit 1
  fi
  checked=$((checked + 1))
done
[ "$checked" -ge 2 ] || { echo "found $checked programs in $1"; exit 1; }
echo "$checked programs link no CUDA library"
