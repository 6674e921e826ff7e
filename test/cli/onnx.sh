#!/usr/bin/env bash
# onnx.sh BIN_FOLDER: ONNX files as a script sees them: compiled by name and from standard input, written as graph.json that gives the
# same plan, checked as a table and as JSON.
set -euo pipefail
bin=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export NO_COLOR=1 PATH=$bin:$PATH
die() { echo "FAILED: $*"; exit 1; }

# y = Softmax(x) w under opset 13, x float32[batch, 3]; nodes /head/Softmax and /head/MatMul.
base64 -d >tiny.onnx <<'MODEL'
CAgSADqgAQoeCgF4EgFzGg0vaGVhZC9Tb2Z0bWF4IgdTb2Z0bWF4Ch8KAXMKAXcSAXkaDC9oZWFkL01hdE11bCIGTWF0TXVsEgR0aW55KiMIAwgCEAEiGAAAgD8AAAAAAAAAAAAA
gD8AAABAAAAAQEIBd1oYCgF4EhMKEQgBEg0KBxIFYmF0Y2gKAggDYhgKAXkSEwoRCAESDQoHEgViYXRjaAoCCAJCBAoAEA0=
MODEL
# NonZero, Elu with an attribute of the wrong kind, and org.example.Fancy.
base64 -d >bad.onnx <<'MODEL'
CAgSADqeAQoeCgF4EgFpGg0vZmluZC9Ob25aZXJvIgdOb25aZXJvCiQKAXgSAWUaCC9hY3QvRWx1IgNFbHUqDQoFYWxwaGEiATGgAQMKIQoBZRIBeRoFZmFuY3kiBUZhbmN5Ogtvcmcu
ZXhhbXBsZRIDYmFkWhgKAXgSEwoRCAESDQoHEgViYXRjaAoCCANiCQoBeRIECgIIAWIJCgFpEgQKAggHQgQKABANQg8KC29yZy5leGFtcGxlEAI=
MODEL

ge-compile tiny.onnx -o tiny.bin -t cpu 2>said || { cat said; die "tiny.onnx"; }
ge-run tiny.bin -d cpu -i x=0,0,0 --dim batch=1 -o y=y.npy >/dev/null 2>&1 || die "ge-run tiny.bin"
ge-compile - -o piped.bin -t cpu <tiny.onnx 2>said || { cat said; die "from standard input"; }
cmp tiny.bin piped.bin || die "from standard input: another plan"
ge-compile tiny.onnx --emit graph -o tiny.json 2>said || { cat said; die "--emit graph"; }
ge-compile tiny.json -o again.bin -t cpu 2>said || { cat said; die "the graph.json that was written"; }
cmp tiny.bin again.bin || die "graph.json gives another plan"
ge-compile tiny.onnx --dim batch=4 -o pinned.bin -t cpu 2>said || { cat said; die "--dim"; }

ge-compile tiny.onnx --check >out 2>said || die "--check of a model that is right"
grep -q 'everything is supported' out || die "--check of a model that is right says nothing"
code=0
ge-compile bad.onnx --check >out 2>said || code=$?
[ "$code" -eq 1 ] || die "--check: exit code $code, expected 1"
for words in '/find/NonZero' 'NonZero  *13' '/act/Elu  *Elu  *13  *attribute alpha' 'fancy  *org.example.Fancy  *2' '3 faults'; do
  grep -q "$words" out || { cat out; die "--check does not say: $words"; }
done
[ ! -s said ] || { cat said; die "--check talks on standard error"; }
code=0
ge-compile bad.onnx --check --json >out || code=$?
[ "$code" -eq 1 ] || die "--check --json: exit code $code, expected 1"
grep -q '"operator": "org.example.Fancy"' out || { cat out; die "--check --json names no operator"; }
code=0
ge-compile bad.onnx -o bad.bin -t cpu 2>said || code=$?
[ "$code" -eq 1 ] && [ ! -e bad.bin ] || die "bad.onnx: exit code $code"

head -c 100 tiny.onnx >cut.onnx
code=0
ge-compile cut.onnx -o cut.bin -t cpu 2>said || code=$?
{ [ "$code" -eq 1 ] && grep -q 'E0217' said && grep -q 'cut.onnx:byte' said; } || { cat said; die "a file that is cut off: exit code $code"; }
printf 'no model at all' >text.onnx
code=0
ge-compile text.onnx -o text.bin -t cpu 2>said || code=$?
{ [ "$code" -eq 1 ] && grep -q 'E0217' said; } || { cat said; die "a text: exit code $code"; }
echo "ONNX files: compiled, written as graph.json, checked"
