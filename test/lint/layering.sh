#!/usr/bin/env bash
# layering.sh ROOT LAYERS [TARGETS]: checks every #include under lib/, kernels/ and apps/ against LAYERS (layers.txt
# says what its rows mean), and every link of every CMake target listed in TARGETS ("target|folder|linked targets").
set -euo pipefail
root=$1 layers=$(realpath "$2") targets=${3:+$(realpath "$3")}
cd "$root"
files=$(find lib kernels apps -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' \) 2>/dev/null | sort)
awk -v layers="$layers" -v targets="$targets" -v files="$files" '
  function fault(text) { print text; faults++ }
  function row_of(path,   best, r) {  # the longest row that is a folder above (or equal to) the path
    for (r in allowed) if (index(path "/", r "/") == 1 && length(r) > length(best)) best = r
    return best }
  function has(list, word) { return index(" " list " ", " " word " ") > 0 }
  function resolve(from, name,   folder) {  # the file that #include "name" means; empty for a generated or outside one
    folder = from; sub(/[^\/]*$/, "", folder)
    if ((folder name) in file) return folder name
    if (("lib/" name) in file) return "lib/" name
    if (name in file) return name
    if (("lib/runtime/include/" name) in file) return "lib/runtime/include/" name
    return "" }
  function under_any(list, path,   part, i, n) {
    n = split(list, part, " ")
    for (i = 1; i <= n; i++) if (index(path "/", part[i] "/") == 1) return 1
    return 0 }
  BEGIN {
    while ((getline line < layers) > 0) {
      if (line ~ /^ *(#|$)/) continue
      name = line; sub(/ *:.*/, "", name)
      list = line; sub(/^[^:]*: */, "", list); gsub(/ +/, " ", list)
      if (name ~ /^</) outside[name] = list; else allowed[name] = list
    }
    count = split(files, list_of_files, "\n")
    for (i = 1; i <= count; i++) file[list_of_files[i]] = 1
    for (i = 1; i <= count; i++) {
      path = list_of_files[i]; mine = row_of(path); number = 0
      if (mine == "") fault(path ": its folder has no row in layers.txt")
      while ((getline line < path) > 0) {
        number++
        if (line !~ /^ *# *include *["<]/) continue
        where = path ":" number
        name = line; sub(/^[^"<]*/, "", name); sub(/[">][^">]*$/, "", name)
        if (name ~ /^</) {
          for (o in outside) if (index(name, o) == 1 && !under_any(outside[o], path))
            fault(where ": includes " name ">; only " outside[o] " may")
          continue
        }
        got = resolve(path, substr(name, 2))
        if (got == "") continue
        theirs = row_of(got)
        if (theirs != mine && !has(allowed[mine], theirs))
          fault(where ": includes " got "; " mine " may include " (allowed[mine] == "" ? "nothing else" : allowed[mine]))
      }
      close(path)
    }
    while (targets != "" && (getline line < targets) > 0) { split(line, f, "|"); folder_of[f[1]] = f[2]; links_of[f[1]] = f[3] }
    for (t in folder_of) {
      mine = row_of(folder_of[t])
      if (mine == "") { if (folder_of[t] ~ /^(lib|kernels|apps)/) fault("target " t ": its folder " folder_of[t] " has no row in layers.txt"); continue }
      n = split(links_of[t], linked, " ")
      for (i = 1; i <= n; i++) {
        if (!(linked[i] in folder_of)) continue
        theirs = row_of(folder_of[linked[i]])
        if (theirs != "" && theirs != mine && !has(allowed[mine], theirs) && !index(" " allowed[mine], " " theirs "/"))
          fault("target " t " (" mine ") links " linked[i] " (" theirs "), which it may not include")
      }
    }
    print count " files, " (faults + 0) " faults"
    exit faults > 0
  }'
