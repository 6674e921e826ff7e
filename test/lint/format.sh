#!/usr/bin/env bash
# format.sh ROOT: clang-format agrees with every source file. Versions of it disagree with one another, so only 14 (Debian
# 12's) is asked; without it the test is skipped (77). `format.sh ROOT fix` writes what it wants.
set -euo pipefail
cd "$1"
tool=$(command -v clang-format-14 || command -v clang-format) || { echo "clang-format is not here"; exit 77; }
"$tool" --version | grep -q 'version 14\.' || { echo "clang-format 14 is not here"; exit 77; }
mode=(--dry-run -Werror)
[ "${2:-}" != fix ] || mode=(-i)
find lib kernels apps test \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 -n 20 -P "$(nproc)" "$tool" "${mode[@]}"
