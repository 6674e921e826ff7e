// Which values of its symbols a graph can be bound to. Entry: can_bind, settle_optimal_sizes.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace ge {

// Under these values no size is negative, and sizes that must be equal are.
bool can_bind(const Graph& graph, const std::map<std::string, int64_t>& symbols);

// `opt` is what costs are counted for and what inputs are generated at: where the graph cannot be bound to
// the opts of its symbols (h - 2 with an opt of 1, the first 5 of n with an opt of 2), those that the faults
// hang on move to the nearest small size at which it can. The graph stays as it is where none is found.
// Gives one note per symbol that moved.
std::vector<std::string> settle_optimal_sizes(Graph& graph);

}  // namespace ge
