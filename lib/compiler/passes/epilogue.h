// What an epilogue can hold: shared by fuse_epilogues, which groups it, and by selection, which packs it.
// Entry: epilogue_activation.
#pragma once
#include <optional>

#include "compiler/ir/graph.h"

namespace ge {

struct EpilogueActivation {
  uint16_t scalar_op = 0;      // code of scalar_ops.def
  double alpha = 0, beta = 0;  // clamp: low, high
};
// The activation that `node` is when applied to `operand`, or nothing.
std::optional<EpilogueActivation> epilogue_activation(const Graph& graph, const Node& node, ValueId operand);
// The number a (possibly broadcast) scalar constant holds.
std::optional<double> scalar_value(const Graph& graph, ValueId v);

}  // namespace ge
