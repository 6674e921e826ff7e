// Random valid graphs. Entry: random_graph. The same seed gives the same graph on every machine, as long as
// the operators are the same.
#pragma once
#include <optional>
#include <string>

#include "compiler/ir/graph.h"

namespace ge::test {

Graph random_graph(uint64_t seed);
// A graph with a node of this operator ("Conv", "com.microsoft:FusedConv"); nullopt where none of the
// attempts was accepted (`refusal` gets the last reason).
std::optional<Graph> random_graph_of(const std::string& named, uint64_t seed, int attempts,
                                     std::string* refusal);

}  // namespace ge::test
