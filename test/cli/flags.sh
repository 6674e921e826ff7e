#!/usr/bin/env bash
# flags.sh BIN_FOLDER: docs/cli.md lists the flags that each program's -h lists, no more and no fewer.
set -euo pipefail
page=$(realpath "$(dirname "$0")/../../docs/cli.md")
flags() { grep -oE '(^|[^a-z-])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u; }
failed=0
for program in ge-compile ge-run ge-inspect; do
  listed=$(awk -v program="$program" '/^## / { on = ($2 == program) } on && /^\| `/' "$page" | cut -d'|' -f2 | flags)
  real=$("$1/$program" -h | sed 's/e\.g\..*//; s/^\( *-[^ ]*\).*/\1/' | flags)
  difference=$(diff <(echo "$listed") <(echo "$real") || true)
  [ -z "$difference" ] || { printf '%s (< docs/cli.md, > -h)\n%s\n' "$program" "$difference"; failed=1; }
done
exit $failed
