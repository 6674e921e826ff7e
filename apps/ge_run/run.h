// What ge-run does. Entry: run_command.
#pragma once
#include "ge_run/options.h"

namespace ge {

// Runs, prints, and gives the process exit code.
int run_command(const RunCommand& command);

}  // namespace ge
