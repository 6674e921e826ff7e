#!/usr/bin/env bash
# Installs what is missing, builds everything, runs every test. Exits with ctest's code; ctest's summary comes last,
# the table of operators, element types and devices just before it. Arguments go to cmake: test/run.sh -DGE_CUDA=OFF
# GE_PRESET names another preset of CMakePresets.json (asan-ubsan, tsan, ci, ...).
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${GE_PRESET:-default}
jobs=$(nproc)
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1  # where ccache is there, clones in other folders share its objects

test/install_dependencies.sh
cmake --preset "$preset" -DGE_BUILD_TESTS=ON "$@"
cmake --build --preset "$preset" --parallel "$jobs"

case $preset in
  default | release | ci) tables=build/test ;;
  *) tables=build-$preset/test ;;
esac
rm -f "$tables"/op_table_*.txt
set +e
ctest --preset "$preset" --parallel "$jobs" 2>&1 | while IFS= read -r line; do  # not awk: some read a pipe in blocks
  if [[ $line =~ ^[0-9]+%\ tests\ passed ]]; then cat "$tables"/op_table_*.txt 2>/dev/null; echo; fi
  printf '%s\n' "$line"
done
exit "${PIPESTATUS[0]}"
