#!/usr/bin/env bash
# The lints can fail: each is run on a small tree with one fault in it and must name that fault.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

must_say() {  # must_say TEXT COMMAND...: the command fails and its output holds the text
  local text=$1 out
  shift
  if out=$("$@" 2>&1); then echo "passed, but should have said: $text"; exit 1; fi
  grep -qF -- "$text" <<<"$out" || { printf 'should have said: %s\nbut said: %s\n' "$text" "$out"; exit 1; }
}
new_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{lib/{base,runtime,compiler/ir},kernels/map,apps,docs}
  echo '// head' >"$tree/lib/base/status.h"
  echo '// head' >"$tree/lib/compiler/ir/graph.h"
}
layering() { "$here/layering.sh" "$tree" "$here/layers.txt" "$@"; }

new_tree
printf '// head\n#include "compiler/ir/graph.h"\n' >"$tree/lib/runtime/session.cpp"
must_say 'lib/runtime/session.cpp:2: includes lib/compiler/ir/graph.h' layering
new_tree
printf '// head\n#include "../compiler/ir/graph.h"\n#include <nlohmann/json.hpp>\n' >"$tree/kernels/map/map.h"
must_say 'kernels/map/map.h:3: includes <nlohmann/json.hpp>' layering
new_tree
mkdir "$tree/lib/odd" && echo '// head' >"$tree/lib/odd/odd.h"
must_say 'lib/odd/odd.h: its folder has no row' layering
new_tree
printf 'ge_runtime|lib/runtime|ge_ir\nge_ir|lib/compiler/ir|\n' >"$tree/targets.txt"
must_say 'target ge_runtime (lib/runtime) links ge_ir' layering "$tree/targets.txt"
new_tree
layering >/dev/null

printf '// head\n// TODO later\n' >"$tree/lib/base/a.cpp"
must_say 'lib/base/a.cpp:2:// TODO later' "$here/style.sh" "$tree"
printf 'int a;\n' >"$tree/lib/base/a.cpp"
must_say 'lib/base/a.cpp:1: starts without a comment' "$here/style.sh" "$tree"
printf '// head\nint f() { throw 1; }\n' >"$tree/lib/base/a.cpp"
must_say 'no exception leaves a library function' "$here/style.sh" "$tree"
printf '// head\nvoid f() { fmt::print(stderr, "a"); }\n' >"$tree/lib/base/a.cpp"
must_say 'it throws where the stream is full' "$here/style.sh" "$tree"

printf 'GE_ERROR(101, kUser, one, "first")\nGE_ERROR(101, kUser, two, "second")\n' >"$tree/lib/base/error_codes.def"
printf '| E0101 | first | cause | fix |\n| E0101 | second | cause | fix |\n| E0999 | gone | cause | fix |\n' >"$tree/docs/errors.md"
must_say 'used twice: 101' "$here/errors.sh" "$tree"
must_say 'E0999 is not in error_codes.def' "$here/errors.sh" "$tree"
