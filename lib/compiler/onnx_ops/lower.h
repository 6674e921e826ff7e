// From the ONNX dialect to core ops. Entry: lower_onnx. Invariant: on success no Op::onnx node is left and
// every type is known.
#pragma once
#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

// Replaces every Op::onnx node by core ops, in topological order, inferring types on the way. All faults of
// the graph are told at once, each with the node's place and path (E03xx); what a faulty node would have
// given raises no further errors.
Status lower_onnx(Graph& graph);

}  // namespace ge
