// Identities of core ops. Entry: simplify.
#pragma once
#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

// Replaces nodes that give one of their operands, or that compose with their producer, in one walk in
// topological order. Every rule keeps every bit (a NaN stays a NaN; which one is not promised). Leaves no
// dead nodes.
Status simplify(Graph& graph);

}  // namespace ge
