// Loops that stand side by side and read the same tensor, made one with several outputs. Entry:
// join_sibling_loops; part of fuse_elementwise, which has made the loops.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/passes/manager.h"

namespace ge {

//   before   %a = fused(%x) { relu }; %b = fused(%x) { exp }
//   after    %a, %b = fused(%x) { both }
// Two loops join where neither needs the other, they have the same domain, rows and sweeps, and at least one
// operand, as large as the domain, is read by both at the same element. Gain: that read, and a launch. Near
// linear in nodes and uses.
void join_sibling_loops(Graph& graph, PassContext& context);

}  // namespace ge
