// The launches that could do a node's work, op by op. Entry: describe_node.
// Adding a kernel variant for an op that has some: its row in kernels/<family>/kernels.def is found by the
// family's name prefix; nothing changes here.
#pragma once
#include <string_view>
#include <vector>

#include "compiler/select/selection.h"

namespace ge {

// The work in the operand order and attributes of one kernel family; every row whose name starts with
// "<family>_" and whose device fits is a candidate for it.
struct Work {
  std::string_view family;   // "dot", "conv", ...; "" for a generated loop
  LaunchSpec spec;           // row not yet chosen
  std::string loop_refusal;  // why no loop does it, where one was tried
  // The same work in several launches, where that may be cheaper: a library's product without its activation,
  // then a loop that activates the result in place. Empty: there is no such way.
  std::vector<Work> split;
};
// One entry per launch that the node needs, in order (a concat needs one copy per operand). Empty: nothing to
// do.
Result<std::vector<Work>> describe_node(const Graph& graph, const ValueViews& views, NodeId node,
                                        bool prefer_loops, bool exact);
// Graph output `index` holds a view, an input or a constant: the copy that fills its buffer.
Result<Work> describe_output_copy(const Graph& graph, const ValueViews& views, size_t index,
                                  bool prefer_loops);

}  // namespace ge
