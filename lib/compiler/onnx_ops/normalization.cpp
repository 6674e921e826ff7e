// LayerNormalization, RMSNormalization (core normalize) and BatchNormalization (a multiply and an add per
// channel).
#include "compiler/onnx_ops/normalization.h"

#include <algorithm>

namespace ge {
namespace {

std::vector<int64_t> axes_from(int64_t axis, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < rank; ++i) axes.push_back(i);
  return axes;
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
  for (size_t i = 1; i <= 4; ++i)
    if (!check_vector(c, i, channels, "channel")) return;
}

// Before opset 7 is_test says that a node is for inference, before 14 its one output does; training_mode
// since then.
bool trains(OpContext& c) {
  if (c.op().attribute("training_mode")) return c.int_attr("training_mode") != 0;
  bool trains = c.op().attribute("is_test") && c.int_attr("is_test") == 0;
  for (size_t i = 1; i < c.output_count(); ++i) trains = trains || c.wants(i);
  return trains;
}

bool check_mode(OpContext& c) {
  const bool modern = c.op().attribute("training_mode") != nullptr;
  if (modern ? !trains(c) && (c.wants(1) || c.wants(2)) : trains(c)) {
    c.fail(
        c.about_attr("training_mode", Code::unsupported_feature,
                     modern ? "running statistics are a result of training" : "only inference is supported")
            .try_(modern ? "set training_mode = 1, or leave those outputs out"
                         : "export the model for inference: is_test = 1 (before opset 7), one output"));
  } else if (c.op().attribute("spatial") && c.int_attr("spatial") == 0 && c.rank(c.in(0)) > 2) {
    c.fail(c.about_attr("spatial", Code::unsupported_feature, "only statistics per channel are supported")
               .because("spatial is 0")
               .try_("export the model with opset 9 or later"));
  }
  return !c.failed();
}

// Mean and variance of the batch, per channel, in a wide type.
struct Statistics {
  ValueId mean, variance;
};
Statistics batch_statistics(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.wide(c.in(0));
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < c.rank(x); ++i)
    if (i != 1) axes.push_back(i);
  const ValueId mean = b.reduce(x, "mean", axes, true);
  const ValueId centred = b.map(Op::sub, {x, mean});
  const ValueId variance = b.reduce(b.map(Op::mul, {centred, centred}), "mean", axes, true);
  const Dims flat{c.dims(x)[1]};
  return {b.reshape(mean, flat), b.reshape(variance, flat)};
}

// running * momentum + current * (1 - momentum), in running's type.
ValueId moved(OpContext& c, ValueId running, ValueId current) {
  Builder& b = c.build();
  const double momentum = c.float_attr("momentum");
  const ValueId old = b.cast(c.wide(running), c.dtype(current));
  const ValueId kept = b.map(Op::mul, {old, c.scalar_like(old, momentum)});
  return b.cast(b.map(Op::add, {kept, b.map(Op::mul, {current, c.scalar_like(current, 1 - momentum)})}),
                c.dtype(running));
}

}  // namespace

ValueId normalize(OpContext& c, const std::string& kind, std::vector<ValueId> operands, int64_t axis) {
  if (c.failed()) return kNone;
  return c.build().op(Op::normalize, std::move(operands),
                      {{"kind", kind}, {"axis", axis}, {"epsilon", c.float_attr("epsilon")}});
}

std::vector<ValueId> layer_statistics(OpContext& c, ValueId x, int64_t axis, bool rms) {
  if (c.failed()) return {kNone, kNone};
  Builder& b = c.build();
  const std::vector<int64_t> axes = axes_from(axis, c.rank(x));
  const ValueId mean = rms ? kNone : b.reduce(x, "mean", axes, true);
  const ValueId centred = rms ? x : b.map(Op::sub, {x, mean});
  const ValueId variance = b.reduce(b.map(Op::mul, {centred, centred}), "mean", axes, true);
  const ValueId deviation =
      b.map(Op::sqrt, {b.map(Op::add, {variance, c.scalar_like(variance, c.float_attr("epsilon"))})});
  return {mean, b.map(Op::reciprocal, {deviation})};
}

DType statistics_type(OpContext& c) {
  const DType own = c.dtype(c.in(0));
  const int64_t stash = c.op().attribute("stash_type") ? c.int_attr("stash_type") : 1;
  const auto dtype = dtype_from_onnx(stash);
  if (!dtype || !is_float(*dtype) || bits_of(*dtype) < 16) {
    c.fail(c.about_attr("stash_type", Code::bad_attribute, "stash_type is no type to compute in")
               .because("found " + std::to_string(stash) +
                        "; allowed: 1 (float32), 10 (float16), 11 (float64), 16 (bfloat16)"));
    return own;
  }
  return own == DType::float64 || *dtype == DType::float64 ? DType::float64 : DType::float32;
}

ValueId per_channel(OpContext& c, ValueId v, int64_t rank) {
  if (c.failed()) return kNone;
  Dims shape(std::max<int64_t>(rank, 1), Dim(1));
  shape[rank > 1 ? 1 : 0] = c.dims(v)[0];
  return c.build().reshape(v, shape);
}

bool check_vector(OpContext& c, size_t i, const Dim& count, const std::string& unit) {
  const std::string name = "'" + c.op().input_name(i) + "'";
  const std::string wrong = name + " does not have one value per " + unit;
  if (c.rank(c.in(i)) != 1) {
    c.fail(c.about_input(i, Code::operand_rank, name + " must be a vector")
               .because("found " + c.describe(c.in(i))));
    return false;
  }
  const Dim& n = c.dims(c.in(i))[0];
  if (n.is_static() && count.is_static() && n != count) {
    c.fail(c.about_input(i, Code::shape_mismatch, wrong)
               .because("found " + c.describe(c.in(i)) + "; '" + c.op().input_name(0) + "' is " +
                        c.describe(c.in(0)) + ", so " + count.to_string() + " " + unit + "s"));
    return false;
  }
  c.require_equal(n, count, wrong);
  return !c.failed();
}

Results lower_layer_normalization(OpContext& c) {
  Builder& b = c.build();
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)), c.in(0));
  const DType wide = statistics_type(c), own = c.dtype(c.in(0));
  if (c.failed()) return kNone;
  // Core normalize computes in float32 or wider by itself: only a wider stash_type needs a cast.
  const DType type = wide == DType::float64 ? wide : own;
  std::vector<ValueId> operands = {b.cast(c.in(0), type)};
  for (size_t i = 1; i < 3; ++i)
    if (c.has(i)) operands.push_back(b.broadcast(b.cast(c.in(i), type), c.dims(c.in(0))));
  std::vector<ValueId> results = {b.cast(normalize(c, "layer", std::move(operands), axis), own), kNone,
                                  kNone};
  if (c.wants(1) || c.wants(2)) {
    const DType stash = *dtype_from_onnx(c.int_attr("stash_type"));
    const DType told = bits_of(stash) < 32 ? stash : wide;
    const std::vector<ValueId> statistics = layer_statistics(c, b.cast(c.in(0), wide), axis);
    results[1] = b.cast(statistics[0], told);
    results[2] = b.cast(statistics[1], told);
  }
  return results;
}

// Y has the scale's dtype.
Results lower_rms_normalization(OpContext& c) {
  Builder& b = c.build();
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)), c.in(0));
  const DType wide = statistics_type(c), own = c.dtype(c.in(0)), result = c.dtype(c.in(1));
  if (c.failed()) return kNone;
  const DType type = wide == DType::float64 ? wide : own;
  const ValueId x = b.cast(c.in(0), type);
  const ValueId statistic = c.wants(1) ? layer_statistics(c, b.cast(x, wide), axis, true)[1] : kNone;
  if (result == own) {
    const ValueId scale = b.broadcast(b.cast(c.in(1), type), c.dims(x));
    return std::vector<ValueId>{b.cast(normalize(c, "rms", {x, scale}, axis), result), statistic};
  }
  const ValueId scale = b.broadcast(c.in(1), c.dims(x));
  return std::vector<ValueId>{b.map(Op::mul, {b.cast(normalize(c, "rms", {x}, axis), result), scale}),
                              statistic};
}

// y = x * s + t, s = scale / sqrt(var + epsilon), t = B - mean * s: what fold_batch_norm folds into the
// convolution before.
Results lower_batch_normalization(OpContext& c) {
  Builder& b = c.build();
  if (!check_mode(c)) return kNone;
  check_channels(c);
  if (c.failed()) return kNone;
  const ValueId x = c.in(0);
  const int64_t rank = c.rank(x);
  const bool training = trains(c) && rank > 1;
  const Statistics used = training ? batch_statistics(c) : Statistics{c.wide(c.in(3)), c.wide(c.in(4))};
  const ValueId variance = used.variance, mean = b.cast(used.mean, c.dtype(variance));
  const ValueId deviation =
      b.map(Op::sqrt, {b.map(Op::add, {variance, c.scalar_like(variance, c.float_attr("epsilon"))})});
  const ValueId s = b.map(Op::div, {b.cast(c.in(1), c.dtype(variance)), deviation});
  const ValueId t = b.map(Op::sub, {b.cast(c.in(2), c.dtype(variance)), b.map(Op::mul, {mean, s})});
  const ValueId scale = b.cast(per_channel(c, s, rank), c.dtype(x)),
                shift = b.cast(per_channel(c, t, rank), c.dtype(x));
  const ValueId y = b.map(Op::add, {b.map(Op::mul, {x, scale}), shift});
  if (!training) return y;
  return std::vector<ValueId>{y, moved(c, c.in(3), used.mean), moved(c, c.in(4), used.variance)};
}

}  // namespace ge
