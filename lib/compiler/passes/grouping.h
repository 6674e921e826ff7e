// Moving nodes into a fused node's body and back. Entry: group_nodes, body_of, inline_fused,
// join_loops.
// Invariant: the fused node computes exactly what its nodes computed; scalar constants move into the body,
// others stay operands.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

struct Grouping {
  Graph body;
  std::vector<ValueId> operands;  // outside values, as body.inputs
  std::vector<ValueId> results;   // values of the group that are used outside, as body.outputs
};
// The group as a graph of its own; the outer graph is not changed. `nodes` in topological order.
Grouping body_of(const Graph& graph, const std::vector<NodeId>& nodes);
// Replaces the nodes by one fused node of this kind ("loop", "dot", "conv"). Sources are those of all nodes,
// in order.
NodeId group_nodes(Graph& graph, const std::vector<NodeId>& nodes, const std::string& kind);
// The opposite: the body's nodes stand in the graph again.
Status inline_fused(Graph& graph, NodeId fused);

struct Joined {
  Graph body;
  std::vector<ValueId> operands;  // outside values, as body.inputs; none twice
};
// The bodies of two fused nodes as one graph: the outputs of a, then those of b. Neither reads the other.
Joined joined_body(const Graph& graph, NodeId a, NodeId b);
// Replaces both by one fused node of a's kind with the results of both.
NodeId join_loops(Graph& graph, NodeId a, NodeId b);

}  // namespace ge
