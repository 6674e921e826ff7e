// If whose condition is known: exporters write it where a size decides (squeeze a dim that may be 1), or a
// flag that was frozen. Entry: inline_known_branch. Before: %y = If(%c) with %c known. After: the branch's
// nodes in the graph itself, not lowered yet.
#pragma once
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

bool is_if(const Node& node);  // If of ai.onnx

struct Branch {
  std::vector<NodeId> nodes;     // in topological order
  std::vector<ValueId> outputs;  // one for each result of the node
};
// Errors: needs_constant where the condition is not known; missing_attribute, operand_count and
// shape_mismatch of a node that is no If.
Result<Branch> inline_known_branch(Graph& graph, NodeId id);

}  // namespace ge
