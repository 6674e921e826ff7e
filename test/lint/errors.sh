#!/usr/bin/env bash
# errors.sh ROOT: every row of error_codes.def has a number, a name and a title of its own, and stands in docs/errors.md
# under the same title with a cause and a fix; docs/errors.md lists no other code.
set -euo pipefail
cd "$1"
faults=0
fault() { echo "$*"; faults=1; }

rows=$(sed -n 's/^GE_ERROR(\([0-9]*\), *k[A-Za-z]*, *\([a-z0-9_]*\), *"\(.*\)").*/\1|\2|\3/p' lib/base/error_codes.def)
[ "$(grep -c '^GE_ERROR(' lib/base/error_codes.def)" -eq "$(wc -l <<<"$rows")" ] || fault "error_codes.def: a row could not be read"
for field in 1 2 3; do
  twice=$(cut -d'|' -f$field <<<"$rows" | sort | uniq -d)
  [ -z "$twice" ] || fault "error_codes.def: used twice: $twice"
done
while IFS='|' read -r number name title; do
  code=$(printf 'E%04d' "$number")
  grep -qF "| $code | $title | " docs/errors.md || fault "docs/errors.md: has no row '| $code | $title | cause | fix |' ($name)"
done <<<"$rows"
while read -r code; do
  grep -q "^$((10#${code#E}))|" <<<"$rows" || fault "docs/errors.md: $code is not in error_codes.def"
done < <(grep -oE '^\| E[0-9]{4} ' docs/errors.md | tr -d '| ')
awk -F'|' '/^\| E[0-9]/ && (NF < 6 || $4 ~ /^ *$/ || $5 ~ /^ *$/) { print "docs/errors.md:" NR ": cause or fix is missing"; bad = 1 } END { exit bad }' docs/errors.md || faults=1
exit $faults
