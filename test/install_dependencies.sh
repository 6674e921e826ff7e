#!/usr/bin/env bash
# Makes sure that what ge builds with is here: cmake 3.24, ninja, a C++20 compiler and four header libraries.
# Silent when nothing is missing. Otherwise installs it with apt-get where this user may (root, or sudo without a
# password), else prints the one command to run and exits with 3. Libraries under CMAKE_PREFIX_PATH count as here.
# What ge can do without (protobuf, for the ONNX reader's unit tests; the ONNX backend's tests) is installed too; where that fails, a warning.
set -euo pipefail

compiler=${CXX:-c++}
missing=() packages=() extras=()

need() {  # need PACKAGE WHAT: notes that WHAT is missing and comes with PACKAGE
  packages+=("$1")
  missing+=("$2")
}

compiles() {  # the preprocessor accepts stdin, with the prefixes that CMake would search too
  local include=() prefix prefixes=${CMAKE_PREFIX_PATH:-}
  for prefix in ${prefixes//[;:]/ }; do include+=("-I$prefix/include"); done
  "$compiler" -std=c++20 "${include[@]}" -x c++ -E - >/dev/null 2>&1
}

header() {  # header PACKAGE WHAT FILE...: one of the files must be found
  local package=$1 what=$2 file
  shift 2
  for file; do
    if compiles <<<"#include <$file>"; then return; fi
  done
  need "$package" "$what"
}

at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

version=$(cmake --version 2>/dev/null | awk 'NR == 1 { print $3 }') || true
at_least 3.24 "${version:-0}" || need cmake "cmake 3.24 or newer (found ${version:-none})"
command -v ninja >/dev/null || need ninja-build ninja
if ! compiles <<<$'#if !(__GNUC__ >= 12 || __clang_major__ >= 15)\n#error too old\n#endif\n#include <span>'; then
  need g++ "g++ 12 or newer"
  compiler=/usr/bin/c++  # where the package will put it; if it is not there the headers below count as missing too
fi
header libfmt-dev "fmt" fmt/core.h
header nlohmann-json3-dev "nlohmann_json" nlohmann/json.hpp
header libcli11-dev "CLI11" CLI/CLI.hpp
header catch2 "Catch2" catch2/catch_all.hpp catch2/catch.hpp
if ! command -v protoc >/dev/null || ! compiles <<<"#include <google/protobuf/message_lite.h>"; then
  extras+=(libprotobuf-dev protobuf-compiler)
fi
[ -d /usr/share/libonnx-testdata ] || extras+=(libonnx-testdata)

[ $((${#packages[@]} + ${#extras[@]})) -gt 0 ] || exit 0

run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo); fi
can_install() { command -v apt-get >/dev/null && { [ ${#run[@]} -eq 0 ] || sudo -n true 2>/dev/null; }; }
install() {
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive sh -c \
    'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@" </dev/null >&2
}

install_extras() {  # never fails
  [ ${#extras[@]} -gt 0 ] || return 0
  if can_install && install "${extras[@]}"; then return; fi
  echo "warning: not here: ${extras[*]}; ge builds without them, with fewer tests" >&2
}

if [ ${#packages[@]} -eq 0 ]; then
  install_extras
  exit 0
fi
printf 'missing: %s\n' "${missing[@]}" >&2
packages+=(libxxhash-dev libdnnl-dev)  # used where they are found, never asked for
if can_install; then
  echo "installing: ${packages[*]}" >&2
  if install "${packages[@]}"; then
    install_extras
    exit 0
  fi
  echo "apt-get failed; when it works again, run:" >&2
elif command -v apt-get >/dev/null; then
  echo "run this once, then start again:" >&2
else
  echo "install these with this system's package manager (the names are Debian's): ${packages[*]}" >&2
  exit 3
fi
sudo=${run[*]:+sudo }
echo "  ${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packages[*]}" >&2
exit 3
