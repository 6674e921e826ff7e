// Result types of core ops, inferred once, here. Entry: infer_types. The verifier, the builder and lowering
// all call it.
#pragma once
#include <span>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

// Types of the results of a core op for these operand types and attributes. Errors (shape_mismatch,
// operand_dtype, axis_out_of_range, ...) say what was found; the caller adds the place. Dims that must be
// equal but cannot be proven equal are appended to `assertions` where it is not null, else refused.
Result<std::vector<Type>> infer_types(Op op, std::span<const Type* const> operands, const AttrMap& attrs,
                                      const TensorData* data, const Graph* body,
                                      std::vector<Graph::Assertion>* assertions);

// infer_types of a node of the graph.
Result<std::vector<Type>> infer_node(const Graph& graph, const Node& node,
                                     std::vector<Graph::Assertion>* assertions);

// Symbolic contents of small integer results (dims, reshape, concat, slice, gather, map ops on them ...),
// where known. The node must have the types that infer_node gives; its operands' contents are taken as they
// stand.
std::optional<Dims> infer_contents(const Graph& graph, const Node& node);

}  // namespace ge
