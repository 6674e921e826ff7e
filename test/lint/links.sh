#!/usr/bin/env bash
# links.sh ROOT: every relative link of every page leads to a file that is there.
set -euo pipefail
cd "$1"
faults=0
while IFS= read -r page; do
  while IFS= read -r link; do
    [ -e "$(dirname "$page")/${link%%#*}" ] || { echo "$page: leads nowhere: $link"; faults=1; }
  done < <(grep -oE '\]\([^)#: ][^): ]*\)' "$page" | sed 's/^](//; s/)$//')
done < <(find . -name '*.md' -not -path './build*' -not -path './.git/*')
exit $faults
