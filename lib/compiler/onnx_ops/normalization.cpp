// LayerNormalization, RMSNormalization (core normalize) and BatchNormalization (a multiply and an add per
// channel).
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

std::vector<int64_t> axes_from(int64_t axis, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
}

void check_stash_type(OpContext& c) {
  if (c.int_attr("stash_type") == 1) return;
  c.fail(
      c.about_attr("stash_type", Code::unsupported_feature, "the first stage is computed in float32 or wider")
          .because("found stash_type " + std::to_string(c.int_attr("stash_type")))
          .try_("remove \"stash_type\""));
}

ValueId normalize(OpContext& c, const std::string& kind, std::vector<ValueId> operands, int64_t axis) {
  if (c.failed()) return kNone;
  return c.build().op(Op::normalize, std::move(operands),
                      {{"kind", kind}, {"axis", axis}, {"epsilon", c.float_attr("epsilon")}});
}

// Mean and 1 / sqrt(variance + epsilon) over axes from `axis` on, axes kept, in float32 or wider.
std::vector<ValueId> layer_statistics(OpContext& c, int64_t axis) {
  Builder& b = c.build();
  const ValueId x = c.wide(c.in(0));
  const std::vector<int64_t> axes = axes_from(axis, c.rank(x));
  const ValueId mean = b.reduce(x, "mean", axes, true);
  const ValueId centred = b.map(Op::sub, {x, mean});
  const ValueId variance = b.reduce(b.map(Op::mul, {centred, centred}), "mean", axes, true);
  const ValueId deviation =
      b.map(Op::sqrt, {b.map(Op::add, {variance, c.scalar_like(variance, c.float_attr("epsilon"))})});
  return {mean, b.map(Op::reciprocal, {deviation})};
}

// A value per channel as [1, C, 1, ...] of rank `rank`.
ValueId per_channel(OpContext& c, ValueId v, int64_t rank) {
  if (c.failed()) return kNone;
  Dims shape(std::max<int64_t>(rank, 1), Dim(1));
  shape[rank > 1 ? 1 : 0] = c.dims(v)[0];
  return c.build().reshape(v, shape);
}

// Operands 1 .. 4 must be vectors of C values.
void check_channels(OpContext& c) {
  const ValueId x = c.in(0);
  if (c.rank(x) == 0) {
    c.fail(c.about_input(0, Code::operand_rank, "'X' must have at least one dim")
               .because("found " + c.describe(x)));
    return;
  }
  const Dim channels = c.rank(x) > 1 ? c.dims(x)[1] : Dim(1);
  for (size_t i = 1; i <= 4 && !c.failed(); ++i) {
    const std::string name = "'" + c.op().input_name(i) + "'";
    if (c.rank(c.in(i)) != 1) {
      c.fail(c.about_input(i, Code::operand_rank, name + " must be a vector")
                 .because("found " + c.describe(c.in(i))));
    } else if (const Dim& n = c.dims(c.in(i))[0]; n.is_static() && channels.is_static() && n != channels) {
      c.fail(c.about_input(i, Code::shape_mismatch, name + " does not have one value per channel")
                 .because("found " + c.describe(c.in(i)) + "; 'X' is " + c.describe(x) + ", so " +
                          channels.to_string() + " channels"));
    } else {
      c.require_equal(n, channels, name + " does not have one value per channel");
    }
  }
}

}  // namespace

Results lower_layer_normalization(OpContext& c) {
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  check_stash_type(c);
  if (c.failed()) return kNone;
  std::vector<ValueId> operands = {x, c.build().broadcast(c.in(1), c.dims(x))};
  if (c.has(2)) operands.push_back(c.build().broadcast(c.in(2), c.dims(x)));
  std::vector<ValueId> results = {normalize(c, "layer", std::move(operands), axis), kNone, kNone};
  if (c.wants(1) || c.wants(2)) {
    const std::vector<ValueId> statistics = layer_statistics(c, axis);
    results[1] = statistics[0];
    results[2] = statistics[1];
  }
  return results;
}

// Y has the scale's dtype.
Results lower_rms_normalization(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  check_stash_type(c);
  if (c.failed()) return kNone;
  const ValueId scale = b.broadcast(c.in(1), c.dims(x));
  if (c.dtype(scale) == c.dtype(x)) return normalize(c, "rms", {x, scale}, axis);
  return b.map(Op::mul, {b.cast(normalize(c, "rms", {x}, axis), c.dtype(c.in(1))), scale});
}

// y = x * s + t, s = scale / sqrt(var + epsilon), t = B - mean * s: what fold_batch_norm folds into the
// convolution before.
Results lower_batch_normalization(OpContext& c) {
  Builder& b = c.build();
  if (c.int_attr("training_mode") != 0 || c.wants(1) || c.wants(2)) {
    return c.fail(c.about_attr("training_mode", Code::unsupported_feature, "only inference is supported")
                      .because("running statistics are a result of training")
                      .try_("export the model for inference: training_mode = 0 and one output"));
  }
  check_channels(c);
  if (c.failed()) return kNone;
  const ValueId x = c.in(0);
  const ValueId variance = c.wide(c.in(4)), mean = b.cast(c.wide(c.in(3)), c.dtype(variance));
  const ValueId deviation =
      b.map(Op::sqrt, {b.map(Op::add, {variance, c.scalar_like(variance, c.float_attr("epsilon"))})});
  const ValueId s = b.map(Op::div, {b.cast(c.in(1), c.dtype(variance)), deviation});
  const ValueId t = b.map(Op::sub, {b.cast(c.in(2), c.dtype(variance)), b.map(Op::mul, {mean, s})});
  const int64_t rank = c.rank(x);
  const ValueId scale = b.cast(per_channel(c, s, rank), c.dtype(x)),
                shift = b.cast(per_channel(c, t, rank), c.dtype(x));
  return b.map(Op::add, {b.map(Op::mul, {x, scale}), shift});
}

}  // namespace ge
