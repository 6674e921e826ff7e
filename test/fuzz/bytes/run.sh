#!/usr/bin/env bash
# run.sh [--seconds N] [--seed S] [--build FOLDER]: every byte fuzzer over the project's own files and N seconds (60)
# of changes to them, two at a time. Without --build it builds them with AddressSanitizer and UBSan first. What made
# one fail stands in FOLDER/test/NAME.input; it becomes a file of corpus/NAME once mended.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
seconds=60 seed=1 build=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    *) sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done
if [ -z "$build" ]; then
  build=$root/build-asan-ubsan
  (cd "$root" && cmake --preset asan-ubsan -DGE_BUILD_TESTS=ON >/dev/null)
  cmake --build "$build" --parallel --target byte_fuzzers ge-compile
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/plans"
for name in mlp layer digits; do
  "$build/bin/ge-compile" "$root/examples/$name/$name.json" -o "$work/plans/$name.bin" -t cpu 2>/dev/null
done

seeds() {  # the files that a fuzzer starts from
  [ ! -d "$here/corpus/$1" ] || echo "$here/corpus/$1"
  case $1 in
    npy_fuzz) find "$root/examples" -name '*.npy' -size -64k ;;
    safetensors_fuzz) find "$root/examples" -name '*.safetensors' -size -64k ;;
    plan_bytes_fuzz) echo "$work/plans" ;;
    onnx_fuzz) ;;  # its corpus alone: onnx_seeds.py
    graph_json_fuzz) find "$root/examples" "$root/test/fuzz/corpus" -name '*.json' -size -64k ;;
  esac
}

fuzz() {
  local name=$1 files log=$work/$1.log
  mapfile -t files < <(seeds "$name")
  if "$build/test/$name" --seconds "$seconds" --seed "$seed" --keep "$build/test/$name.input" "${files[@]}" >"$log" 2>&1; then
    printf '%-18s %s\n' "$name" "$(tail -n 1 "$log")"
  else
    printf '%-18s FAILED on %s\n' "$name" "$build/test/$name.input"
    tail -n 40 "$log"
    return 1
  fi
}

code=0 running=()
for program in "$build"/test/*_fuzz; do
  name=$(basename "$program")
  [ -f "$here/$name.cpp" ] || continue
  fuzz "$name" &
  running+=($!)
  if [ ${#running[@]} -ge 2 ]; then
    wait "${running[0]}" || code=1
    running=("${running[@]:1}")
  fi
done
for pid in "${running[@]}"; do wait "$pid" || code=1; done
exit $code
