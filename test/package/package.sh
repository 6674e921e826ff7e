#!/usr/bin/env bash
# package.sh BUILD: installs BUILD into a temporary folder, builds examples/embed against it with find_package and pkg-config
# alone, and runs it on a plan that the installed ge-compile made. The runtime by itself must have no compiler.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$work/ge" >"$work/log" || { cat "$work/log"; die "install"; }
cmake --install "$build" --prefix "$work/small" --component runtime >>"$work/log" || die "install of the runtime"
[ -x "$work/small/bin/ge-run" ] || die "the runtime has no ge-run"
[ ! -e "$work/small/bin/ge-compile" ] || die "the runtime holds the compiler"

library=$(find "$work/ge" -name 'libge_runtime.so' | head -n 1)
others=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^ge_' || true)
[ -z "$others" ] || die "libge_runtime.so shows more than ge.h:" "$others"
needed=$(objdump -p "$library" | awk '/NEEDED/ { print $2 }' | grep -vE '^lib(c|m|gcc_s|stdc\+\+|dl|pthread)\.so|^ld-linux' || true)
[ -z "$needed" ] || die "libge_runtime.so needs $needed"

# The header by itself, as strict C and as C++.
for language in "cc -x c -std=c99" "c++ -x c++ -std=c++11"; do
  # shellcheck disable=SC2086 # a compiler with its flags
  echo '#include <ge/ge.h>' | $language -Wall -Wextra -Werror -pedantic -fsyntax-only -I "$work/ge/include" - || die "ge.h with $language"
done

cmake -G Ninja -S "$root/examples/embed" -B "$work/embed" -DCMAKE_PREFIX_PATH="$work/ge" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 || { cat "$work/log"; die "find_package"; }
cmake --build "$work/embed" >"$work/log" 2>&1 || { cat "$work/log"; die "build of examples/embed"; }
"$work/ge/bin/ge-compile" "$root/examples/mlp/mlp.json" -o "$work/mlp.bin" -t cpu 2>"$work/log" || { cat "$work/log"; die "ge-compile"; }
"$work/embed/embed" "$work/mlp.bin" batch 2 | tee "$work/out"
grep -q '^y \[2, 10\] 0\.' "$work/out" || die "embed printed no answer"
"$work/embed/many_sessions" "$work/mlp.bin" 8 50
code=0
"$work/embed/embed" "$work/mlp.bin" batch 100000000 >"$work/out" 2>&1 || code=$?
{ [ "$code" -eq 1 ] && grep -q E0605 "$work/out"; } || { cat "$work/out"; die "a batch outside its range: exit code $code"; }

if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$work/ge" -name ge.pc)") pkg-config --cflags --libs ge)
  # shellcheck disable=SC2086 # several flags
  cc -std=c99 "$root/examples/embed/embed.c" -o "$work/by_pkg_config" $flags || die "pkg-config"
fi
echo "package: installed, found, linked, run"
