// What the readers of graphs with subgraphs share. Entry: append_captures. Invariant: a node's subgraphs have
// the captures at the end of their inputs, all of them the same ones in the same order.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace ge {

// The names of captured outer values, an attribute of the node that holds the subgraphs.
inline constexpr const char* kCapturesAttr = "graph.captures";

// A subgraph as it was read: its inputs end with one for each name that it captures.
struct CapturingBody {
  std::shared_ptr<Graph> body;
  std::vector<std::string> captures;
};

// Outer values that the subgraphs use become operands of `node` after its own, and inputs of every subgraph,
// sorted by name. `outer` gives the value of a name; kNone leaves the operand absent. `pay` is asked before
// what it takes is made, in bytes (every subgraph gets the captures of all); where it refuses, nothing is
// done.
void append_captures(Graph& graph, NodeId node, const std::vector<CapturingBody>& subgraphs,
                     const std::function<ValueId(const std::string&)>& outer,
                     const std::function<bool(uint64_t)>& pay);

}  // namespace ge
