#!/usr/bin/env bash
# style.sh ROOT: rules of the house that a search can hold. Prints every breach as file:line and exits with 1 if there is one.
set -euo pipefail
cd "$1"
faults=0

# forbid WHY PATTERN PATH...: no line of these files may match the extended regular expression.
forbid() {
  local why=$1 pattern=$2 found
  shift 2
  found=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' --include='*.def' --include='*.cmake' \
    --include='*.txt' --include='*.sh' --include='*.md' --include='*.py' --exclude=style.sh --exclude=lint_catches.sh --exclude-dir='build*' -e "$pattern" "$@" 2>/dev/null || true)
  [ -z "$found" ] || { printf '%s\n' "$found" | sed "s|\$|   <- $why|"; faults=1; }
}

forbid 'unfinished work has no mark, it has an issue' '\b(TODO|FIXME|XXX|HACK)\b' lib kernels apps schemas examples test docs cmake
forbid 'registration is explicit: no code before main' '__attribute__ *\(\((constructor|init_priority)|\b(static|const) +[A-Za-z_:]*[Rr]egistrar\b|\bGE_REGISTER' lib kernels apps
forbid 'no exception leaves a library function' '(^|[^a-z_])throw[ ;]' lib/base lib/platform lib/numeric lib/tensor_file lib/contract lib/runtime lib/compiler kernels
forbid 'libraries do not print' '\bstd::(cout|cerr|clog)\b|(^|[^_a-zA-Z])(printf|puts) *\(' lib
forbid 'it throws where the stream is full: tell() or write_stdout()' '\bfmt::print(ln)? *\(' lib apps
forbid 'driver API only: no cudart, no <<<>>>' 'cuda_runtime|<<<.*>>>' lib kernels
forbid 'a path of one machine' '(^|[^a-zA-Z0-9_.$}])/(work|root|home/[a-z]+)/' lib kernels apps schemas examples test docs cmake README.md CONTRIBUTING.md CHANGELOG.md .ci

device=$(find kernels lib -name '*.cu' -o -name '*.cuh')
# shellcheck disable=SC2086 # a list
[ -z "$device" ] || forbid "nvcc's output would depend on the folder" 'namespace *\{|__LINE__|__FILE__' $device

while IFS= read -r file; do
  read -r first <"$file" || true
  # A source file beside the header of its name may leave that to the header.
  case $first in '//'* | '/*'*) ;; *) [ -e "${file%.cpp}.h" ] || { echo "$file:1: starts without a comment that says what lives here"; faults=1; } ;; esac
  case $file in *_body.h) ;; *.h) grep -qE '^#(pragma once|ifndef [A-Z_]+_H_?$)' "$file" || { echo "$file: has no #pragma once"; faults=1; } ;; esac
  lines=$(wc -l <"$file")
  [ "$lines" -le 650 ] || { echo "$file: $lines lines; over 650 no file holds one thing"; faults=1; }
done < <(find lib kernels apps -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | sort)
exit $faults
