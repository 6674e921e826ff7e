#!/usr/bin/env bash
# run_quickstart.sh BIN_FOLDER: the demonstration half of examples/quickstart.sh, with the programs built already. It
# must show eight digits and read exactly as many of the kept set right as PyTorch does.
set -euo pipefail
out=$(GE_BIN=$1 "$(dirname "$0")/../../examples/quickstart.sh" 2>&1) || { echo "$out"; exit 1; }
echo "$out"
[ "$(grep -o 'reads [0-9]' <<<"$out" | wc -l)" -eq 8 ]
grep -q '253 of 256 digits read correctly (98.8%)' <<<"$out"
