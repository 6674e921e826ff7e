#!/usr/bin/env bash
# runtime_only.sh SOURCE BUILD [CMAKE ARGUMENTS]: -DGE_BUILD_COMPILER=OFF configures, builds, and gives ge-run and ge-inspect but no
# ge-compile. The same flags as the build it belongs to, so that ccache, where it is, has most objects already.
set -euo pipefail
source=$1 build=$2/test/runtime_only
shift 2
cmake -S "$source" -B "$build" -G Ninja "$@" -DGE_BUILD_COMPILER=OFF -DGE_BUILD_TESTS=OFF -DGE_CUDA=OFF --log-level=WARNING
cmake --build "$build" --parallel "$(nproc)"
"$build/bin/ge-run" --version
"$build/bin/ge-inspect" --version
[ ! -e "$build/bin/ge-compile" ] || { echo "ge-compile was built"; exit 1; }
! grep -q 'lib/compiler' "$build/build.ninja" || { echo "something of lib/compiler is in the runtime's build"; exit 1; }
