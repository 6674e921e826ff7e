// Whether a node fits its operator's row. Entry: check_signature, check_types.
#pragma once
#include "base/status.h"
#include "compiler/onnx_ops/registry.h"

namespace ge {

// The row for this node: unknown_op (nearest name offered), unsupported_op_version.
Result<const Operator*> operator_of(const Node& node);
// Counts of inputs and outputs, absent required ones, unknown, missing and mistyped attributes, words that
// are no choice of one. Needs no types.
void check_signature(const Node& node, const Operator& op, ErrorList& errors);
// Dtypes of the operands against the row. All operands' types are known.
void check_types(const Graph& graph, const Node& node, const Operator& op, ErrorList& errors);

}  // namespace ge
