#!/usr/bin/env bash
# Builds ge with CUDA on a machine with a GPU, runs everything that needs one, and prints short tables last. All logs are
# under $OUT (default: build/gpu-logs).
#
#   test/gpu/run.sh [--parts LIST] [--build FOLDER] [cmake arguments]
#
# LIST is any of build,tests,fuzz,memcheck,racecheck,examples,bench,peers (default: all but peers, which needs Python with
# PyTorch).
# fuzz: GE_FUZZ_GRAPHS random graphs (3000) from seed GE_FUZZ_SEED (1) on, on the GPU against the CPU's reference.
# Exits with 1 if any part failed; the parts after it still run.
set -uo pipefail
cd "$(dirname "$0")/../.."
parts=build,tests,fuzz,memcheck,racecheck,examples,bench build=build
while [ $# -gt 0 ]; do
  case $1 in
    --parts) parts=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) break ;;
  esac
done
out=${OUT:-$build/gpu-logs}
mkdir -p "$out"
bin=$build/bin summary=$out/summary.txt
: >"$summary"
failed=0

note() { printf '%-34s %s\n' "$1" "$2" >>"$summary"; }

# check NAME LOG COMMAND...: runs the command with its output in $out/LOG; notes passed or failed and the time it took.
check() {
  local name=$1 log=$out/$2 start=$SECONDS code=0
  shift 2
  "$@" >>"$log" 2>&1 </dev/null || code=$?
  if [ "$code" -eq 0 ]; then
    note "$name" "passed ($((SECONDS - start)) s)"
  else
    failed=1
    note "$name" "FAILED, exit code $code, $log"
    tail -n 25 "$log"
  fi
  return "$code"
}

part_build() {
  [ -f build-deps/include/xxhash.h ] || test/install_dependencies.sh || exit 3  # where nothing can be installed, bring it along
  check configure build.log cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGE_CUDA=ON -DGE_BUILD_TESTS=ON \
    -DCMAKE_INCLUDE_PATH="$PWD/build-deps/include" "$@" || return  # headers brought along where nothing can be installed
  check build build.log cmake --build "$build" --parallel "$(nproc)"
}

part_tests() {
  check "tests on the GPU" tests.log ctest --test-dir "$build" -L gpu --output-on-failure --no-tests=error --timeout 300 --parallel 4
  grep -E '% tests passed|\(Skipped\)|Not Run' "$out/tests.log" | sort -u >>"$summary"
}

part_fuzz() {  # a process a core: NVRTC compiles one program at a time in each
  check "random graphs" fuzz.log "$build/test/graph_fuzz" --device cuda --count "${GE_FUZZ_GRAPHS:-3000}" \
    --seed "${GE_FUZZ_SEED:-1}" --jobs "$(nproc)" --shrink 20 --failures 30 --out "$out/fuzz_failures"
  grep -E '^(FAILED|[0-9]+ graphs|not compared)' "$out/fuzz.log" >>"$summary"
}

# sanitize TOOL: the GPU tests, one launch in five (GE_QUICK), and each example's plan under compute-sanitizer, all at once
sanitize() {
  local tool=$1 jobs=() command name shard shards=16
  command -v compute-sanitizer >/dev/null || { note "$tool" "skipped: compute-sanitizer is not here"; return; }
  "$build/test/kernels_gpu_test" --help | grep -q shard-count || shards=1  # Catch2 2 has none
  while read -r command; do
    command=${command//\"/} name=$(basename "${command%% *}")
    case $tool:$name in
      racecheck:kernels_gpu_test | memcheck:kernels_gpu_test)
        for ((shard = 0; shard < shards; shard++)); do
          [ "$shards" -gt 1 ] && jobs+=("$name.$shard $command --shard-count $shards --shard-index $shard") || jobs+=("$name $command")
        done ;;
      memcheck:*) jobs+=("$name.${#jobs[@]} $command") ;;
    esac
  done < <(ctest --test-dir "$build" -L gpu -N -V | sed -n 's/^[0-9]*: Test command: //p')
  for name in digits mlp layer; do
    "$bin/ge-compile" examples/$name/$name.json -o "$out/$name.bin" >>"$out/$tool.log" 2>&1
    jobs+=("ge_run_$name $bin/ge-run $out/$name.bin --device cuda")
  done
  check "$tool" "$tool.log" sanitize_all "$tool" "${jobs[@]}"
  grep -h ' exit code ' "$out/$tool.log" >>"$summary"
}

# sanitize_all TOOL "NAME COMMAND..."...: all of them together; a line for each, the log of each beside.
sanitize_all() {
  local tool=$1 job name pids=() names=() code=0 i result
  shift
  for job; do
    name=${job%% *}
    # shellcheck disable=SC2086 # a command with its arguments
    GE_QUICK=1 timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 9 --print-limit 5 ${job#* } >"$out/$tool-$name.log" 2>&1 &
    pids+=($!) names+=("$name")
  done
  for i in "${!pids[@]}"; do
    result=0
    wait "${pids[i]}" || result=$?
    if [ "$result" -eq 77 ] || grep -q 'before first instrumented API call' "$out/$tool-${names[i]}.log"; then
      result=0  # a test that says it is skipped; a shard in which nothing is launched
    fi
    [ "$result" -eq 0 ] || { code=1; echo "$tool ${names[i]}: exit code $result, $out/$tool-${names[i]}.log"; }
  done
  grep -h 'SUMMARY' "$out/$tool"-*.log | sort | uniq -c
  return $code
}
part_memcheck() { sanitize memcheck; }
part_racecheck() { sanitize racecheck; }

run_example() {  # run_example NAME PLAN DEVICE INPUT OUTPUT EXPECTED
  check "$1 $3 $(basename "$6" .npy)" examples.log "$bin/ge-run" "$2" --device "$3" -i "$4" --expect "$5=$6"
}

part_examples() {  # one plan each, with code for both, must agree with PyTorch on both
  local name device case
  for name in digits mlp layer; do
    check "$name compile" examples.log "$bin/ge-compile" examples/$name/$name.json -o "$out/$name.bin" --check-passes --explain || continue
  done
  for device in cpu cuda; do
    run_example digits "$out/digits.bin" $device image=examples/digits/images.npy logits examples/digits/expected.npy
    run_example mlp "$out/mlp.bin" $device x=examples/mlp/x.npy y examples/mlp/expected.npy
    for case in b0_s1 b0_s17 b0_s128 b1_s1 b1_s17 b1_s128 b3_s1 b3_s17 b3_s128; do
      run_example layer "$out/layer.bin" $device x=examples/layer/x_$case.npy y examples/layer/y_$case.npy
    done
  done
  check "quickstart" examples.log env GE_BIN="$bin" examples/quickstart.sh
}

part_bench() {
  local name dims
  for name in digits mlp layer; do
    case $name in layer) dims=(--dim batch=8 --dim sequence=128) ;; *) dims=(--dim batch=64) ;; esac
    "$bin/ge-compile" examples/$name/$name.json -o "$out/$name.bin" >>"$out/bench.log" 2>&1
    check "bench $name" "bench-$name.log" "$bin/ge-run" "$out/$name.bin" --device cuda "${dims[@]}" --bench
    check "profile $name" "profile-$name.log" "$bin/ge-run" "$out/$name.bin" --device cuda "${dims[@]}" --profile
    check "startup $name" "startup-$name.log" "$bin/ge-run" "$out/$name.bin" --device cuda "${dims[@]}" --startup
  done
}

part_peers() {
  check "beside PyTorch and JAX" peers.log python3 test/bench/peers.py --bin "$bin" --out "$out" --only "${GE_PEERS:-quick}"
}

IFS=, read -ra chosen <<<"$parts"
for part in "${chosen[@]}"; do
  declare -F "part_$part" >/dev/null || { echo "no such part: $part"; exit 2; }
  echo "== $part"
  "part_$part" "$@"
done

for log in bench-digits bench-mlp bench-layer profile-layer startup-mlp; do
  [ ! -f "$out/$log.log" ] || { echo; echo "== $log"; cat "$out/$log.log"; }
done
for table in "$build"/test/op_table_*.txt; do [ ! -f "$table" ] || { echo; cat "$table"; }; done
[ ! -f "$out/peers.log" ] || { echo; sed -n '/^workload/,$p' "$out/peers.log"; }
echo
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null
cat "$summary"
exit $failed
