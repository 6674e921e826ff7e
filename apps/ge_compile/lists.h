// --list-ops, --list-passes, --list-kernels, --list-targets: tables for people, JSON for scripts. Entry:
// print_lists.
#pragma once
#include "base/status.h"
#include "ge_compile/options.h"

namespace ge {

Status print_lists(const CompileCommand& command);

}  // namespace ge
