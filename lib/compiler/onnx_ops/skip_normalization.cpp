// SkipLayerNormalization and SkipSimplifiedLayerNormalization (com.microsoft): layer or RMS normalization of
// input + skip + bias over the last axis. The sum is rounded to the input's type, as ONNX Runtime's CUDA
// kernels do, and is an output of its own.
#include "compiler/onnx_ops/normalization.h"

namespace ge {
namespace {

// input + skip (+ bias), of the input's shape.
ValueId residual_sum(OpContext& c, size_t bias) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  if (c.rank(x) < 2) {
    return c.fail(
        c.about_input(0, Code::operand_rank, "'input' must be [batch, sequence, hidden] or [tokens, hidden]")
            .because("found " + c.describe(x)));
  }
  ValueId sum = b.map(Op::add, {x, b.broadcast(c.in(1), c.dims(x))});
  if (c.has(bias) && check_vector(c, bias, c.dims(x).back(), "hidden feature"))
    sum = b.map(Op::add, {sum, b.broadcast(c.in(bias), c.dims(x))});
  return sum;
}

Results skip_normalization(OpContext& c, const std::string& kind, std::vector<size_t> parameters,
                           size_t bias) {
  Builder& b = c.build();
  const ValueId sum = residual_sum(c, bias);
  if (c.failed()) return kNone;
  const int64_t axis = c.rank(sum) - 1;
  std::vector<ValueId> operands = {sum};
  for (const size_t i : parameters)
    if (c.has(i) && check_vector(c, i, c.dims(sum).back(), "hidden feature"))
      operands.push_back(b.broadcast(c.in(i), c.dims(sum)));
  const ValueId y = normalize(c, kind, std::move(operands), axis);
  std::vector<ValueId> statistics = {kNone, kNone};
  if (c.wants(1) || c.wants(2)) {
    const DType wide = c.dtype(sum) == DType::float64 ? DType::float64 : DType::float32;
    statistics = layer_statistics(c, b.cast(sum, wide), axis, kind == "rms");
    for (ValueId& v : statistics)
      if (v != kNone) v = b.cast(v, DType::float32);
  }
  return std::vector<ValueId>{y, statistics[0], statistics[1], sum};
}

}  // namespace

// Inputs input, skip, gamma, beta, bias.
Results lower_skip_layer_normalization(OpContext& c) {
  return skip_normalization(c, "layer", {2, 3}, 4);
}

// Inputs input, skip, gamma, bias.
Results lower_skip_simplified_layer_normalization(OpContext& c) {
  return skip_normalization(c, "rms", {2}, 3);
}

}  // namespace ge
