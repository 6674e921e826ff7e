#!/usr/bin/env bash
# cpu.sh [BUILD_FOLDER]: two figures of the CPU: the mlp example from process start to its printed answer (a file would add the
# disk's own time to be flushed), and a chain of twelve float32
# operators on 64 MiB tensors against this machine's copy speed. Exits with 1 when a goal (15 ms, 70%) is missed.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

"$build/bin/ge-compile" examples/mlp/mlp.json -o "$temporary/mlp.bin" -t cpu 2>/dev/null
for ((i = 0; i < 31; i++)); do
  start=${EPOCHREALTIME/./}
  "$build/bin/ge-run" "$temporary/mlp.bin" -i x=examples/mlp/x.npy >/dev/null 2>&1
  echo $((${EPOCHREALTIME/./} - start))
done | sort -n | awk '{ t[NR] = $1 } END { printf "mlp, process start to answer: %.1f ms (goal: under 15)\n", t[16] / 1000; exit t[16] > 15000 }' || missed=1

cat >"$temporary/chain.json" <<'END'
{
  "format": "ge-graph/1", "name": "chain", "opset": 21,
  "inputs": [ { "name": "a", "dtype": "float32", "shape": [16777216] }, { "name": "b", "dtype": "float32", "shape": [16777216] } ],
  "outputs": ["y"],
  "initializers": [
    { "name": "half", "dtype": "float32", "shape": [], "data": { "fill": 0.5 } }, { "name": "one", "dtype": "float32", "shape": [], "data": { "fill": 1 } },
    { "name": "low", "dtype": "float32", "shape": [], "data": { "fill": -0.75 } }, { "name": "high", "dtype": "float32", "shape": [], "data": { "fill": 0.75 } }
  ],
  "nodes": [
    { "op": "Add", "inputs": ["a", "b"], "outputs": ["v1"] }, { "op": "Mul", "inputs": ["v1", "half"], "outputs": ["v2"] },
    { "op": "Sub", "inputs": ["v2", "a"], "outputs": ["v3"] }, { "op": "Abs", "inputs": ["v3"], "outputs": ["v4"] },
    { "op": "Sqrt", "inputs": ["v4"], "outputs": ["v5"] }, { "op": "Mul", "inputs": ["v5", "b"], "outputs": ["v6"] },
    { "op": "Add", "inputs": ["v6", "one"], "outputs": ["v7"] }, { "op": "Relu", "inputs": ["v7"], "outputs": ["v8"] },
    { "op": "Mul", "inputs": ["v8", "a"], "outputs": ["v9"] }, { "op": "Max", "inputs": ["v9", "low"], "outputs": ["v10"] },
    { "op": "Min", "inputs": ["v10", "high"], "outputs": ["v11"] }, { "op": "Neg", "inputs": ["v11"], "outputs": ["y"] }
  ]
}
END
"$build/bin/ge-compile" "$temporary/chain.json" -o "$temporary/chain.bin" -t cpu 2>/dev/null
copy=$("$build/test/ge_copy_speed")
"$build/bin/ge-run" "$temporary/chain.bin" --bench --json --iterations 31 2>/dev/null |
  tr -d ' \n' | sed -n 's/.*"host_us":{[^}]*"median":\([0-9.eE+]*\).*/\1/p' |
  awk -v copy="$copy" '{ speed = 3 * 67108864 / $1 / 1e3
    printf "chain of 12 on 64 MiB: %.0f us, %.1f GB/s, %.0f%% of copy speed %.1f GB/s (goal: 70)\n", $1, speed, 100 * speed / copy, copy
    exit speed < 0.7 * copy }' || missed=1
exit "${missed:-0}"
