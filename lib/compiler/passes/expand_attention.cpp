// expand_attention: writes out an attention that the target has no kernel for.
//   before   %y = attention(%q, %k, %v, %mask) {scale = 0.125}
//   after    %s = dot(%q, transpose(%k)) * 0.125 + %mask; %p = softmax(%s); %y = transpose(dot(%p, %v))
// Precondition: none; grouped heads become an axis of their own, along which keys and values are broadcast.
// Gain: float32 and float64, and heads too large for the fused kernels, run on a GPU at all; as products,
// which libraries know. Cost: the scores stand in memory. Class: rounding (they are rounded to their type
// there). Here: before epilogues and loops, which take the parts. The CPU has kernels for every attention.
#include <limits>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "kernels/attention/attention_limits.h"

namespace ge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows attention_mma_*: 16-bit types, heads that fit in registers.
bool cuda_has_kernel(const Graph& graph, const Node& node) {
  const Type &q = graph.type(node.operands[0]), &v = graph.type(node.operands[2]);
  const auto fits = [](const Dim& size) {
    const auto value = size.value();
    return value && *value <= kernels::kMaxMmaHead;
  };
  return (q.dtype == DType::float16 || q.dtype == DType::bfloat16) && fits(q.dims[3]) && fits(v.dims[3]);
}

class Expansion {
 public:
  Expansion(Graph& graph, const Node& node)
      : b_(graph, node.sources),
        node_(node),
        q_(graph.type(node.operands[0])),
        k_(graph.type(node.operands[1])),
        scores_{q_.dims[0], q_.dims[1], q_.dims[2], k_.dims[2]} {}

  // kNone where something failed: the error is in the builder.
  ValueId run() {
    const ValueId y = average(masked(products()));
    return b_.failed() ? kNone : b_.transpose(y, {0, 2, 1, 3});
  }
  Status take() { return b_.take(); }

 private:
  ValueId scaled(ValueId x) {
    const double scale = attr_double(node_, "scale", 1);
    return scale == 1 || b_.failed() ? x : b_.map(Op::mul, {x, b_.scalar(b_.type(x).dtype, scale)});
  }

  // 16-bit queries are scaled before the product, so that it does not overflow; others behind it, with the
  // softmax.
  ValueId products() {
    const bool narrow = bits_of(q_.dtype) < 32;
    ValueId q = node_.operands[0];
    if (narrow) q = b_.cast(scaled(b_.cast(q, DType::float32)), q_.dtype);
    const ValueId keys = b_.transpose(node_.operands[1], {0, 1, 3, 2});
    if (b_.failed()) return kNone;
    const ValueId scores = b_.grouped_dot(q, keys);
    return narrow ? scores : scaled(scores);
  }

  ValueId infinite() { return b_.scalar(q_.dtype, -kInfinity); }

  ValueId masked(ValueId scores) {
    const ValueId mask = node_.operands.size() > 3 ? node_.operands[3] : kNone;
    if (b_.failed()) return kNone;
    if (mask != kNone && is_bool(b_.type(mask).dtype))
      scores =
          b_.map(Op::select, {mask, scores, b_.scalar(q_.dtype, attr_double(node_, "fill", -kInfinity))});
    else if (mask != kNone)
      scores = b_.map(Op::add, {scores, mask});
    const int64_t causal = attr_int(node_, "causal");
    if (causal == 0) return scores;
    const Dims plane{scores_[2], scores_[3]};
    const auto positions = [&](int64_t axis) {
      return b_.op(Op::iota, {}, {{"shape", plane}, {"axis", axis}, {"dtype", DType::int64}});
    };
    ValueId last = positions(0);
    if (causal == 2) last = b_.map(Op::add, {last, b_.dims({plane[1] - plane[0]}, true)});
    return b_.map(Op::select, {b_.map(Op::less_equal, {positions(1), last}), scores, infinite()});
  }

  // softmax(scores) v. A row that sees no key is 0 with `zero_empty`, whatever v holds: 0 times an infinite
  // value would be NaN, so the row is chosen behind the product. Its weights are set to 0 as well, by which
  // it is known there (other rows have a weight of 1 / keys or more): the scores need not stay in memory.
  ValueId average(ValueId scores) {
    if (b_.failed()) return kNone;
    ValueId weights = b_.op(Op::softmax, {scores}, {{"axis", int64_t{3}}});
    const ValueId v = node_.operands[2];
    if (attr_int(node_, "zero_empty") == 0 || b_.failed()) return b_.grouped_dot(weights, v);
    const ValueId zero = b_.scalar(q_.dtype, 0);
    const ValueId top = b_.reduce(scores, "max", {3}, true);
    weights = b_.map(Op::select, {b_.map(Op::equal, {top, infinite()}), zero, weights});
    if (b_.failed()) return kNone;
    const ValueId empty = b_.map(Op::equal, {b_.reduce(weights, "max", {3}, true), zero});
    if (b_.failed()) return kNone;
    return b_.map(Op::select, {empty, zero, b_.grouped_dot(weights, v)});
  }

  Builder b_;
  const Node& node_;
  const Type q_, k_;
  const Dims scores_;
};

}  // namespace

Status expand_attention(Graph& graph, PassContext& context) {
  if (!context.for_cuda) return {};
  bool changed = false;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op != Op::attention || cuda_has_kernel(graph, node)) continue;
    Expansion expansion(graph, node);
    const ValueId y = expansion.run();
    GE_TRY(expansion.take());
    changed |= replace_value(graph, node.results[0], y);
  }
  if (changed) remove_dead_nodes(graph);
  return {};
}

}  // namespace ge
