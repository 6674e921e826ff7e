#!/usr/bin/env bash
# same_bytes.sh BIN_FOLDER [OTHER_BIN_FOLDER]: a plan depends on the model and on nothing else: not on the folder, the time,
# the number of cores, or the processor's instructions (FMA and AVX2 hidden). Also over two builds when two are given.
set -euo pipefail
bin=$(realpath "$1")
others=("$bin" ${2:+"$(realpath "$2")"})
root=$(realpath "$(dirname "$0")/../..")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
targets=cpu
[ "${GE_TEST_GPU_CODE:-OFF}" != ON ] || targets=cpu,sm_90
failed=0
for name in digits mlp layer; do
  mkdir -p "$temporary/elsewhere with spaces"
  cp -r "$root/examples/$name" "$temporary/elsewhere with spaces/"
  there="$temporary/elsewhere with spaces/$name/$name.json"
  want=
  for folder in "${others[@]}"; do
    for way in here again there one_core masked; do
      plan=$temporary/$way.bin model=$root/examples/$name/$name.json run=()
      case $way in
        there) model=$there ;;
        one_core) run=(taskset -c 0) ;;
        masked) run=(env GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2_Usable,-AVX2,-AVX512F) ;;
      esac
      "${run[@]}" "$folder/ge-compile" "$model" -o "$plan" -t $targets >"$temporary/log" 2>&1 || { cat "$temporary/log"; exit 1; }
      got=$(sha256sum <"$plan")
      [ "${want:=$got}" = "$got" ] || { echo "$name: compiled $way by $folder, the plan differs"; failed=1; }
    done
  done
  echo "$name: ${want%% *}"
done
exit $failed
