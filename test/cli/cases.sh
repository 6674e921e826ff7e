# Sourced by the tests of what the programs say: cases.sh makes a temporary folder the current one, with the programs of
# $1 in PATH, and gives fault, graph, one, compiled and finish. With a word in $2 only the cases whose name holds it run.
bin=$(realpath "$1")
only=${2:-}
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
temporary=$(mktemp -d)
trap 'chmod -R u+w "$temporary"; rm -rf "$temporary"' EXIT
work=$temporary/work
mkdir "$work" && cd "$work" || exit 1
export NO_COLOR=1 PATH=$bin:$PATH
cases=0 failed=0
# shellcheck source=test/cli/npy.sh
. "$root/test/cli/npy.sh"

# fault NAME EXIT 'CODE WORDS|WORDS...' COMMAND...: each part between bars must stand in the output; CODE may be -.
fault() {
  local name=$1 want=$2 said=$3 code=0 part
  shift 3
  [[ $name == *"$only"* ]] || return 0
  cases=$((cases + 1))
  timeout 60 "$@" >"$temporary/out" 2>&1 </dev/null || code=$?
  local wrong=
  [ "$code" -eq "$want" ] || wrong="exit code $code, expected $want"
  while IFS= read -r part; do
    grep -qF -- "$part" "$temporary/out" || wrong+="${wrong:+; }does not say: $part"
  done < <(tr '|' '\n' <<<"$said")
  [ -z "$wrong" ] || { failed=$((failed + 1)); printf 'FAILED %s: %s\n  %s\n' "$name" "$wrong" "$*"; head -n 12 "$temporary/out" | sed 's/^/    /'; }
}
# graph NAME 'SAID' JSON: ge-compile must refuse this graph with exit code 1, on every target alike.
graph() {
  printf '%s' "$3" >"$work/g.json"
  fault "$1" 1 "$2" ge-compile g.json -o g.bin -t cpu
  [ ! -e g.bin ] || { echo "FAILED $1: wrote a plan"; failed=$((failed + 1)); rm -f g.bin; }
}
# one NODES [INITIALIZERS [SHAPE]]: a graph with input x of float32 SHAPE and output y.
one() {
  printf '{"format":"ge-graph/1","name":"t","opset":21,"inputs":[{"name":"x","dtype":"float32","shape":%s}],"outputs":["y"],"initializers":[%s],"nodes":[%s]}' \
    "${3:-[2,3]}" "${2:-}" "$1"
}

# compiled NAME JSON: a graph that must compile, into NAME.bin for the CPU.
compiled() {
  printf '%s' "$2" >"$1.json"
  ge-compile "$1.json" -o "$1.bin" -t cpu >"$temporary/out" 2>&1 || { echo "FAILED $1: does not compile"; head -n 12 "$temporary/out"; failed=$((failed + 1)); }
}
# finish: no temporary file may be left; the exit code says whether all cases held.
finish() {
  local left
  left=$(find . -name '*.tmp*' -o -name '.*.ge-*' | head)
  [ -z "$left" ] || { echo "FAILED: temporary files are left: $left"; failed=$((failed + 1)); }
  echo "$cases cases, $failed failed"
  [ "$failed" -eq 0 ] && [ "$cases" -gt 0 ]
}
