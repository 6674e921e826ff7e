// --check: everything in a model that cannot be compiled, as one table. Entry: check_model.
#pragma once
#include "compiler/compile.h"
#include "ge_compile/options.h"

namespace ge {

// Prints the table (or JSON) on standard output and returns the exit code: 0 where nothing is wrong.
// Operators are checked first, all of them; where they are right, the graph is compiled for the targets that
// -t names (cpu without it).
int check_model(const CompileCommand& command, CompileOptions (*options)(const CompileCommand&));

}  // namespace ge
