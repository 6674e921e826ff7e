// Every pass of passes.def as a function: Status name(Graph&, PassContext&). A pass keeps the graph valid,
// keeps the sources of what it replaces, and leaves no dead nodes of its own making. On error the graph may
// be half changed.
#pragma once
#include "compiler/passes/manager.h"

namespace ge {

#define GE_PASS(name, ...) Status name(Graph& graph, PassContext& context);
#define GE_PASSES_OF_A_TARGET
#include "compiler/passes/passes.def"
#undef GE_PASS
#undef GE_PASSES_OF_A_TARGET

}  // namespace ge
