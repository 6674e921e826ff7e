// What ge-compile does once the flags are known. Entry: run_command.
#pragma once
#include "ge_compile/options.h"

namespace ge {

// Returns the process exit code; errors and talk go to standard error, the product to its file.
int run_command(const CompileCommand& command);

}  // namespace ge
