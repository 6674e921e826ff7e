// Makes a failing graph small. Entry: shrink. Invariant: every step's graph lowers and still fails.
#pragma once
#include <functional>

#include "compiler/ir/graph.h"

namespace ge::test {

// Tries fewer outputs, nodes, operands and attributes, smaller extents, simpler constants and dtypes, as long
// as `fails` holds and `seconds` last.
Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails, int seconds);

}  // namespace ge::test
