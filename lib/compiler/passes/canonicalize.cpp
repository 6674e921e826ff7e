// canonicalize: lowers ONNX operators to core ops and drops what changes nothing.
//   before   %a = onnx.Identity@13(%x); %b = onnx.Add@13(%a, %bias); %c = reshape(%b) of its own shape
//   after    %b = add(%x, broadcast(%bias))
// Precondition: none. Every rule keeps every bit: x + -0.0, x - 0.0, x * 1, x / 1 go (x + 0.0 would turn -0.0
// into 0.0 and stays; x * 0 stays); moves that cancel or compose do; a narrowing cast goes only behind the
// cast that widened. Gain: all later passes see one form. Cost: none. Class: exact. Here, first: everything
// behind it knows core ops only.
#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/simplify.h"

namespace ge {

Status canonicalize(Graph& graph, PassContext&) {
  const auto order = graph.order();
  if (std::any_of(order.begin(), order.end(), [&](NodeId id) { return graph.node(id).op == Op::onnx; })) {
    GE_TRY(lower_onnx(graph));
  }
  return simplify(graph);
}

}  // namespace ge
