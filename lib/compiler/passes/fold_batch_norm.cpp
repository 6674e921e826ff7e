// fold_batch_norm: folds per-channel multiplies and adds into the convolution or dot before them.
//   before   %c = conv(%x, %w); %m = mul(%c, broadcast(%s)); %y = add(%m, broadcast(%t))     %w, %s, %t
//   constant after    %y = conv(%x, %w', %t)                                                         %w' = %w
//   * %s per channel
// Precondition: a floating-point dtype; the weight is a constant that nothing else uses; every intermediate
// has one user and is no output; %s and %t are constants of one element per output channel (dot: per column)
// or one for all; a bias that is there already is such a constant too; what is scaled neither
// overflows nor vanishes: (x * w) * s may be a number where x * (w * s) is none. A dot is folded where a
// multiply is in the chain: its adds stay an add. Gain: two reads and writes of the activations, and what
// batch normalization and Gemm's alpha cost. Cost: none. Class: rounding (the weight is rounded after
// scaling); off with --exact. Here: needs folded scale and shift; before fuse_epilogues, which takes the bias
// that this leaves.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "numeric/convert.h"

namespace ge {

namespace {
// What is applied to the product, as constants of one element per channel: y = product * scale + shift.
struct Affine {
  ValueId scale = kNone, shift = kNone;
  bool multiplies = false;
  std::vector<NodeId> steps;  // the mul, add and sub nodes, in order
};

// From the least normal number of a type to the largest that its products with ordinary activations and
// their sums stay finite with: those are taken in float32 (float64) at least.
std::pair<double, double> scaled_range(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {0x1p-1022, 0x1p+512};
    case DType::float32:
      return {0x1p-126, 0x1p+64};
    case DType::bfloat16:
      return {0x1p-126, 0x1p+64};
    case DType::float8e4m3fn:
      return {0x1p-6, 448};
    case DType::float8e5m2:
      return {0x1p-14, 57344};
    default:
      return {0x1p-14, 65504};
  }
}

class Folder {
 public:
  Folder(Graph& graph, NodeId product) : graph_(graph), product_(product) {
    const Node& node = graph.node(product);
    const Type& result = graph.type(node.results[0]);
    rank_ = result.dims.size();
    channel_axis_ = node.op == Op::conv ? 1 : rank_ - 1;
  }

  // True where it changed the graph.
  Result<bool> run() {
    const Node& node = graph_.node(product_);
    const ValueId weight = node.operands[1];
    if (!is_float(graph_.type(weight).dtype) || !graph_.is_constant(weight) || graph_.use_count(weight) != 1)
      return false;
    const Dim& channels = node.op == Op::conv ? graph_.type(weight).dims[0] : graph_.type(weight).dims.back();
    if (!channels.is_static()) return false;
    channels_ = *channels.value();
    Affine affine;
    if (!start(affine) || !follow(affine)) return false;
    GE_ASSIGN(const bool sound, stays_in_range(affine));
    if (!sound) return false;
    GE_TRY(rebuild(affine));
    return true;
  }

 private:
  bool is_conv() const { return graph_.node(product_).op == Op::conv; }

  // The constant [channels] or one-element tensor that `v` repeats over all other axes; kNone where it is
  // none.
  ValueId per_channel(ValueId v, size_t rank, size_t axis) const {
    if (v == kNone) return kNone;
    const Node* node = graph_.producer(v);
    if (node != nullptr && node->op == Op::broadcast) v = node->operands[0];
    if (!graph_.is_constant(v)) return kNone;
    const Dims& dims = graph_.type(v).dims;
    const size_t shift = rank - dims.size();
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].is_value(1) || (shift + i == axis && dims[i].is_value(channels_))) continue;
      return graph_.constant(v)->splat ? v : kNone;
    }
    return v;
  }
  ValueId per_channel(ValueId v) const { return per_channel(v, rank_, channel_axis_); }

  // The bias that the product has already.
  bool start(Affine& affine) const {
    const Node& node = graph_.node(product_);
    if (node.operands.size() < 3 || node.operands[2] == kNone) return true;
    affine.shift = is_conv() ? per_channel(node.operands[2], 1, 0) : per_channel(node.operands[2]);
    return affine.shift != kNone;
  }

  // Takes multiplies and adds as long as they come; false where folding them gains nothing.
  bool follow(Affine& affine) {
    ValueId value = graph_.node(product_).results[0];
    steps_.clear();
    while (const auto user = only_user(graph_, value)) {
      const Node& node = graph_.node(*user);
      if (node.op != Op::mul && node.op != Op::add && node.op != Op::sub) break;
      const size_t other = node.operands[0] == value ? 1 : 0;
      const ValueId constant = per_channel(node.operands[other]);
      if (constant == kNone || (node.op == Op::sub && other == 0)) break;
      if (!(graph_.type(node.results[0]) == graph_.type(value))) break;
      steps_.push_back({node.op, constant});
      affine.steps.push_back(*user);
      affine.multiplies = affine.multiplies || node.op == Op::mul;
      value = node.results[0];
    }
    // Adds behind a dot's last multiply stay: an epilogue takes them as they are.
    while (!is_conv() && !steps_.empty() && steps_.back().op != Op::mul) {
      steps_.pop_back();
      affine.steps.pop_back();
    }
    return affine.multiplies || (is_conv() && !steps_.empty());
  }

  // Magnitudes of a constant, one for each channel.
  Result<std::vector<double>> magnitudes(ValueId constant) const {
    const TensorData& data = *graph_.constant(constant);
    GE_ASSIGN(const auto bytes, full_bytes(data));
    std::vector<double> list;
    for (int64_t i = 0; i < channels_; ++i)
      list.push_back(std::abs(load_as_double(data.dtype, bytes->data(), data.count() == channels_ ? i : 0)));
    return list;
  }
  Result<std::vector<double>> largest_weights(ValueId weight) const {
    const TensorData& data = *graph_.constant(weight);
    std::vector<double> most(static_cast<size_t>(channels_), 0);
    GE_ASSIGN(const auto bytes, full_bytes(data));
    const int64_t block = is_conv() && channels_ > 0 ? data.count() / channels_ : 1;
    for (int64_t i = 0; i < data.count(); ++i) {
      double& largest = most[static_cast<size_t>(i / block % channels_)];
      const double x = std::abs(load_as_double(data.dtype, bytes->data(), i));
      if (!(x <= largest)) largest = x;  // NaN too
    }
    return most;
  }
  // The scaled weights of each channel and its shift are not so large that sums overflow, nor so small that
  // their digits are lost.
  Result<bool> stays_in_range(const Affine& affine) const {
    const ValueId weight = graph_.node(product_).operands[1];
    const auto [least, largest] = scaled_range(graph_.type(weight).dtype);
    GE_ASSIGN(std::vector<double> scaled, largest_weights(weight));
    std::vector<double> shift(scaled.size(), 0);
    if (affine.shift != kNone) {
      GE_ASSIGN(shift, magnitudes(affine.shift));
    }
    for (const Step& step : steps_) {
      GE_ASSIGN(const std::vector<double> by, magnitudes(step.constant));
      for (size_t i = 0; i < scaled.size(); ++i) {
        if (!std::isfinite(by[i])) return false;
        const bool multiplies = step.op == Op::mul;
        shift[i] = multiplies ? shift[i] * by[i] : shift[i] + by[i];
        if (!multiplies) continue;
        const bool vanishes = scaled[i] > 0 && by[i] > 0 && scaled[i] * by[i] < least;
        scaled[i] *= by[i];
        if (vanishes || !(scaled[i] <= largest)) return false;
      }
    }
    const double most = largest;  // clang does not capture structured bindings
    return std::all_of(shift.begin(), shift.end(), [&](double s) { return s <= most; });
  }

  // As a vector of one element per channel; scalars are repeated.
  ValueId vector(ValueId constant) {
    const Dims all{Dim(channels_)};
    const TensorData& data = *graph_.constant(constant);
    if (data.splat) return b_->constant({data.dtype, {channels_}, data.bytes, true, nullptr});
    if (data.count() == channels_) return b_->reshape(constant, all);
    return b_->broadcast(b_->reshape(constant, {}), all);
  }

  void apply(Affine& affine) {
    if (affine.shift != kNone) affine.shift = vector(affine.shift);
    for (const Step& step : steps_) {
      const ValueId c = vector(step.constant);
      if (step.op == Op::mul) {
        affine.scale = affine.scale == kNone ? c : b_->op(Op::mul, {affine.scale, c});
        if (affine.shift != kNone) affine.shift = b_->op(Op::mul, {affine.shift, c});
      } else if (affine.shift == kNone) {
        affine.shift = step.op == Op::sub ? b_->op(Op::neg, {c}) : c;
      } else {
        affine.shift = b_->op(step.op, {affine.shift, c});
      }
    }
  }

  // New weight and bias are core ops on constants: one evaluation at the end of the pass computes them all.
  Status rebuild(Affine& affine) {
    std::vector<Source> sources = graph_.node(product_).sources;
    for (const NodeId step : affine.steps) merge_sources(sources, graph_.node(step).sources);
    b_.emplace(graph_, sources);
    apply(affine);
    const Node& node = graph_.node(product_);
    const ValueId last = graph_.node(affine.steps.back()).results[0];
    std::vector<ValueId> operands{node.operands[0], scaled_weight(node.operands[1], affine.scale)};
    if (is_conv() && affine.shift != kNone) operands.push_back(affine.shift);
    ValueId result = b_->op(node.op, std::move(operands), node.attrs);
    if (!is_conv() && affine.shift != kNone) {
      result = b_->op(Op::add, {result, b_->broadcast(affine.shift, graph_.type(last).dims)});
    }
    GE_TRY(b_->take());
    replace_value(graph_, last, result);
    return {};
  }

  ValueId scaled_weight(ValueId weight, ValueId scale) {
    if (scale == kNone) return weight;
    const Dims& dims = graph_.type(weight).dims;
    Dims aligned(dims.size(), Dim(1));
    aligned[is_conv() ? 0 : dims.size() - 1] = Dim(channels_);
    return b_->op(Op::mul, {weight, b_->broadcast(b_->reshape(scale, aligned), dims)});
  }

  struct Step {
    Op op;
    ValueId constant;
  };
  Graph& graph_;
  NodeId product_;
  std::optional<Builder> b_;  // made when the sources are known
  size_t rank_ = 0, channel_axis_ = 0;
  int64_t channels_ = 0;
  std::vector<Step> steps_;
};
}  // namespace

Status fold_batch_norm(Graph& graph, PassContext& context) {
  if (context.exact) return {};
  bool changed = false;
  for (const NodeId id : graph.order()) {
    const Op op = graph.node(id).op;
    if (op != Op::conv && op != Op::dot) continue;
    GE_ASSIGN(const bool folded, Folder(graph, id).run());
    changed = changed || folded;
  }
  if (!changed) return {};
  remove_dead_nodes(graph);
  return fold_constants(graph, context);
}

}  // namespace ge
