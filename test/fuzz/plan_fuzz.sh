#!/usr/bin/env bash
# plan_fuzz.sh BUILD: every byte of header, program and loop programs of a small compiled plan is changed, with right
# checksums; each plan is opened, loaded, bound and run on the CPU, or refused. A larger plan is sampled.
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/bin/ge-compile" "$root/examples/mlp/mlp.json" -o "$folder/mlp.bin" -t cpu 2>/dev/null
"$build/bin/ge-compile" "$root/examples/layer/layer.json" -o "$folder/layer.bin" -t cpu 2>/dev/null
"$build/test/plan_fuzz" "$folder/mlp.bin"
"$build/test/plan_fuzz" "$folder/layer.bin" 23
