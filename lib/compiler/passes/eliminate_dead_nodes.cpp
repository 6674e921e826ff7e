// eliminate_dead_nodes: drops nodes whose results nobody uses.
//   before   %a = exp(%x); %b = tanh(%x); return %b
//   after    %b = tanh(%x); return %b
// Precondition: none; core ops have no effects beyond their results. Inputs stay: they are the model's
// interface. Gain: work and memory of the dead nodes. Cost: none. Class: exact. Here: folding and merging
// have just orphaned nodes.
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace ge {

Status eliminate_dead_nodes(Graph& graph, PassContext&) {
  remove_dead_nodes(graph);
  return {};
}

}  // namespace ge
