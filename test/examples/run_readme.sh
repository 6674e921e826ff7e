#!/usr/bin/env bash
# run_readme.sh FILE.md BIN_FOLDER: runs the commands that a page shows, as its reader would, and checks what they print.
#
#   ```sh            a block of commands; it must exit with 0
#   ```sh exit=N     it must exit with N
#   ```sh gpu-code   it compiles device code; left out, and said so, when GE_TEST_GPU_CODE is not ON
#   ```text          right after such a block: its output, lines in this order, without trailing blanks; `...` stands for any
#                    text or any lines
#   ```console       is not run
#
# All blocks of a page share one empty folder with a copy of examples/ in it, and find the programs on PATH.
set -euo pipefail
page=$(realpath "$1")
bin=$(realpath "$2")
root=$(realpath "$(dirname "$0")/../..")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
work=$temporary/work log=$temporary/log
mkdir "$work"
cp -r "$root/examples" "$work/examples"
blocks=0 left_out=0

fail() {
  printf '%s:%d: %s\n--- commands\n%s\n--- output\n' "$page" "$at" "$1" "$script"
  cat "$log"
  exit 1
}

run() {  # runs $script; $options may name the exit code
  local want=0 got=0
  case $options in *gpu-code*)
    if [ "${GE_TEST_GPU_CODE:-OFF}" != ON ]; then
      left_out=$((left_out + 1)) ran=
      return
    fi ;;
  esac
  case $options in *exit=*) want=${options#*exit=} want=${want%% *} ;; esac
  (cd "$work" && PATH=$bin:$PATH NO_COLOR=1 bash -eo pipefail -c "$script") >"$log" 2>&1 </dev/null || got=$?
  [ "$got" -eq "$want" ] || fail "exit code $got, expected $want"
  blocks=$((blocks + 1)) ran=yes
}

check() {  # every line of $expected stands in the output, in order; adjacent lines are adjacent unless ... is between
  local -a out
  local line pattern next=0 free=yes
  mapfile -t out < <(sed 's/ *$//' "$log")
  while IFS= read -r line; do
    if [ "$line" = ... ]; then free=yes; continue; fi
    pattern=$(printf '%s' "$line" | sed 's/[][*?\\]/\\&/g; s/\.\.\./*/g')
    while [ "$next" -lt "${#out[@]}" ]; do
      # shellcheck disable=SC2053 # a pattern on purpose
      [[ ${out[next]} == $pattern ]] && break
      [ -n "$free" ] || fail "expected the line: $line"
      next=$((next + 1))
    done
    [ "$next" -lt "${#out[@]}" ] || fail "expected the line: $line"
    next=$((next + 1)) free=
  done <<<"$expected"
}

state=outside number=0 ran=
while IFS= read -r line || [ -n "$line" ]; do
  number=$((number + 1))
  case $state:$line in
    outside:'```sh' | outside:'```sh '*) state=sh at=$number options=${line#'```sh'} script= ;;
    outside:'```text'*) state=text expected= ;;
    outside:'```'*) state=other ran= ;;
    outside:*) [ -z "$line" ] || ran= ;;
    sh:'```') state=outside; run ;;
    sh:*) script+=$line$'\n' ;;
    text:'```') state=outside; [ -z "$ran" ] || check; ran= ;;
    text:*) expected+=${expected:+$'\n'}$line ;;
    other:'```') state=outside ;;
  esac
done <"$page"
echo "$blocks blocks of commands ran, $left_out left out for want of a device compiler"
[ "$blocks" -gt 0 ] || [ "$left_out" -eq 0 ] || exit 77
