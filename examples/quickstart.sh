#!/usr/bin/env bash
# From a fresh clone to an answer: builds ge's programs, compiles the digits example for the CPU (and for this machine's
# GPU when there is one), runs it on 256 handwritten digits that its training never saw, and shows some of them.
# GE_BIN=FOLDER uses the programs in FOLDER and builds nothing. Needs no Python.
set -euo pipefail
cd "$(dirname "$0")/.."
digits=examples/digits

if [ -z "${GE_BIN:-}" ]; then
  test/install_dependencies.sh
  echo "building into build/ (some minutes the first time)"
  cmake --preset default -DGE_BUILD_TESTS=OFF --log-level=WARNING
  cmake --build --preset default --parallel "$(nproc)" --target ge-compile ge-run ge-inspect
  GE_BIN=build/bin
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n$ %s\n' "${*//$work\//}"; "$@"; }
say "$GE_BIN/ge-compile" $digits/digits.json -o "$work/digits.bin"
say "$GE_BIN/ge-run" "$work/digits.bin" -i image=$digits/test_images.npy -o digit="$work/digit.npy"

# npy FILE TYPE: the values of an npy file, one a line; its two bytes at 8 say how long the header is.
npy() { od -An -v -w"${2:1}" -t "$2" -j $((10 + $(od -An -t u2 -j 8 -N 2 "$1"))) "$1"; }

shades=' ░▒▓█'
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in *UTF-8 | *utf8 | *utf-8) ;; *) [ -t 1 ] && shades=' .:*#' ;; esac

paste <(npy "$work/digit.npy" d8) <(npy $digits/test_labels.npy d8) >"$work/answers"
npy $digits/test_images.npy f4 | awk -v shades="$shades" -v answers="$work/answers" '
  # A pixel is two columns wide. mawk counts bytes, so the shades, three bytes each in UTF-8, are split by hand.
  function shade(ink,   i) { i = int(ink * 4 + 0.5)
    return i == 0 ? " " : wide ? substr(shades, 3 * i - 1, 3) : substr(shades, i + 1, 1) }
  function show(first, count,   row, n, column, ink, line) {
    for (row = 0; row < 8; row++) {
      line = "  "
      for (n = first; n < first + count; n++) {
        for (column = 0; column < 8; column++) { ink = shade(pixel[n * 64 + row * 8 + column]); line = line ink ink }
        line = line "   "
      }
      print line
    }
    line = "  "
    for (n = first; n < first + count; n++)
      line = line sprintf("%-19s", "reads " read[n] (read[n] == is[n] ? "" : ", wrong: is " is[n]))
    print line "\n"
  }
  BEGIN {
    wide = length(shades) > 5
    for (total = 0; (getline line < answers) > 0; total++) { split(line, f, " "); read[total] = f[1]; is[total] = f[2] }
  }
  { pixel[NR - 1] = $1 }
  END {
    print ""
    show(0, 4)
    show(4, 4)
    for (i = 0; i < total; i++) right += read[i] == is[i]
    printf "  %d of %d digits read correctly (%.1f%%)\n", right, total, 100 * right / total
  }'
