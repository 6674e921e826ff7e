// Attention as one core op, or in terms of core dot, softmax and maps where it has a softcap or a sink.
#include "compiler/onnx_ops/attention_parts.h"

#include <cmath>
#include <limits>

namespace ge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// softmax over the keys and the sink, whose own weight is dropped.
ValueId weights_of(OpContext& c, ValueId scores, ValueId sink) {
  Builder& b = c.build();
  if (c.failed()) return kNone;
  if (sink == kNone) return b.op(Op::softmax, {scores}, {{"axis", int64_t{3}}});
  const Dims dims = c.dims(scores);
  const ValueId column = b.broadcast(b.reshape(sink, {1, dims[1], 1, 1}), {dims[0], dims[1], dims[2], 1});
  const ValueId with_sink = c.concat({scores, column}, 3);
  const ValueId weights = c.failed() ? kNone : b.op(Op::softmax, {with_sink}, {{"axis", int64_t{3}}});
  return c.slice_axis(weights, 3, Dim(0), dims[3]);
}

// The mask that an attention takes: what is added, or who is allowed, or both as one.
ValueId mask_of(OpContext& c, const AttentionOperands& a, const Dims& scores) {
  Builder& b = c.build();
  if (a.bias == kNone) return a.allowed == kNone ? kNone : b.broadcast(a.allowed, scores);
  const ValueId added = b.broadcast(a.bias, scores);
  if (a.allowed == kNone || c.failed()) return added;
  return b.map(Op::select, {b.broadcast(a.allowed, scores), added, c.scalar_like(added, -kInfinity)});
}

ValueId attend_at_once(OpContext& c, const AttentionOperands& a) {
  Builder& b = c.build();
  const Dims &q = c.dims(a.query), &k = c.dims(a.key);
  const double scale = a.scale ? *a.scale : default_scale(static_cast<double>(*q[3].value()));
  std::vector<ValueId> operands{a.query, a.key, a.value};
  const ValueId mask = mask_of(c, a, {q[0], q[1], q[2], k[2]});
  if (mask != kNone) operands.push_back(mask);
  const ValueId y = c.failed() ? kNone : b.op(Op::attention, std::move(operands), {{"scale", scale}});
  return c.failed() ? kNone : b.transpose(y, {0, 2, 1, 3});
}

}  // namespace

ValueId attend(OpContext& c, const AttentionOperands& a) {
  if (c.failed()) return kNone;
  Builder& b = c.build();
  const auto size = c.dims(a.query)[3].value();
  if (!(a.softcap > 0) && a.sink == kNone && (a.scale || (size && *size > 0))) return attend_at_once(c, a);
  const ValueId query = scaled_query(c, a.query, a.scale);
  const ValueId scores_of_all = b.grouped_dot(query, b.transpose(a.key, {0, 1, 3, 2}));
  ValueId scores = capped(c, scores_of_all, a.softcap);
  if (c.failed()) return kNone;
  const Dims dims = c.dims(scores);
  if (a.bias != kNone) scores = b.map(Op::add, {scores, b.broadcast(a.bias, dims)});
  if (a.allowed != kNone)
    scores = b.map(Op::select, {b.broadcast(a.allowed, dims), scores, c.scalar_like(scores, -kInfinity)});
  const ValueId weights = weights_of(c, scores, a.sink);
  return c.failed() ? kNone : b.grouped_dot(weights, a.value);
}

double default_scale(double head_size) {
  return head_size > 0 ? 1 / std::sqrt(head_size) : 1;
}

ValueId scaled_query(OpContext& c, ValueId query, std::optional<double> scale) {
  Builder& b = c.build();
  const DType type = c.dtype(query), wide = type == DType::float64 ? type : DType::float32;
  const Dim& size = c.dims(query)[3];
  ValueId factor;
  if (scale)
    factor = b.scalar(wide, *scale);
  else if (const auto known = size.value())
    factor = b.scalar(wide, default_scale(static_cast<double>(*known)));
  else
    factor = b.map(Op::rsqrt, {b.cast(c.size_scalar(size), wide)});
  return b.cast(b.map(Op::mul, {b.cast(query, wide), factor}), type);
}

ValueId capped(OpContext& c, ValueId scores, double cap) {
  if (!(cap > 0) || c.failed()) return scores;
  Builder& b = c.build();
  const ValueId limit = c.scalar_like(scores, cap);
  return b.map(Op::mul, {b.map(Op::tanh, {b.map(Op::div, {scores, limit})}), limit});
}

ValueId split_heads(OpContext& c, ValueId x, const Dim& heads, std::string_view attribute) {
  if (c.failed()) return kNone;
  const Dims dims = c.dims(x);
  const auto count = heads.value();
  const auto size = count ? OpContext::split(dims[2], *count) : std::nullopt;
  if (!size) {
    return c.fail(
        c.about_attr(attribute, Code::bad_attribute, "the last dim is no multiple of the heads")
            .because("found " + c.describe(x) + " and " + std::string(attribute) + " " + heads.to_string()));
  }
  return c.build().transpose(c.build().reshape(x, {dims[0], dims[1], heads, *size}), {0, 2, 1, 3});
}

ValueId merge_heads(OpContext& c, ValueId x) {
  if (c.failed()) return kNone;
  const Dims dims = c.dims(x);
  return c.build().reshape(c.build().transpose(x, {0, 2, 1, 3}), {dims[0], dims[2], dims[1] * dims[3]});
}

}  // namespace ge
