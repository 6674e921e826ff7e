// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: the negated entry of each target, weighed by its
// class; targets equal to ignore_index count for nothing. 16-bit floats are summed in float32.
#include "compiler/onnx_ops/normalization.h"

namespace ge {
namespace {

class Loss {
 public:
  explicit Loss(OpContext& c) : c_(c), b_(c.build()) {}

  // `log_prob` is [N, C, d...]; the targets, input 1, are [N, d...].
  ValueId run(ValueId log_prob) {
    reduction_ = c_.string_attr("reduction");
    if (!check()) return kNone;
    const ValueId target = valid_targets();
    const ValueId picked = entries(c_.wide(log_prob), target);
    const ValueId weight = weights(target, c_.failed() ? DType::float32 : c_.dtype(picked));
    ValueId loss = b_.map(Op::neg, {picked});
    if (weight != kNone) loss = b_.map(Op::mul, {loss, weight});
    if (valid_ != kNone) loss = b_.map(Op::select, {valid_, loss, c_.scalar_like(loss, 0)});
    return c_.failed() ? kNone : b_.cast(reduced(loss, weight), c_.dtype(c_.in(0)));
  }

 private:
  bool check() {
    const ValueId x = c_.in(0), target = c_.in(1);
    if (c_.rank(x) < 2 || c_.rank(target) != c_.rank(x) - 1) {
      c_.fail(c_.about_input(1, Code::operand_rank,
                             "'" + c_.op().input_name(1) + "' must be [N, d...] beside [N, C, d...]")
                  .because("found " + c_.describe(target) + " beside " + c_.describe(x)));
      return false;
    }
    for (size_t i = 0; i < c_.dims(target).size(); ++i)
      c_.require_equal(c_.dims(target)[i], c_.dims(x)[i == 0 ? 0 : i + 1],
                       "the dims of the targets are not those of the input");
    if (c_.has(2)) check_vector(c_, 2, c_.dims(x)[1], "class");
    return !c_.failed();
  }

  // int64 targets, 0 in place of those that are ignored.
  ValueId valid_targets() {
    const ValueId target = b_.cast(c_.in(1), DType::int64);
    if (!c_.has_attr("ignore_index")) return target;
    valid_ = b_.map(Op::not_equal, {target, c_.size_scalar(Dim(c_.int_attr("ignore_index")))});
    return b_.map(Op::select, {valid_, target, c_.size_scalar(Dim(0))});
  }

  // x[n, target[n, d...], d...]
  ValueId entries(ValueId x, ValueId target) {
    if (c_.failed()) return kNone;
    const Dims dims = c_.dims(target);
    Dims unit = dims;
    unit.insert(unit.begin() + 1, Dim(1));
    const ValueId picked =
        b_.op(Op::gather, {x, b_.reshape(target, unit)}, {{"axis", int64_t{1}}, {"elements", int64_t{1}}});
    return b_.reshape(picked, dims);
  }

  // The weight of each target, 0 for ignored ones; kNone where all are 1.
  ValueId weights(ValueId target, DType type) {
    if (c_.failed() || (!c_.has(2) && valid_ == kNone)) return kNone;
    const ValueId one = b_.scalar(type, 1);
    ValueId weight = one;
    if (c_.has(2)) weight = b_.op(Op::gather, {b_.cast(c_.in(2), type), target}, {{"axis", int64_t{0}}});
    if (valid_ == kNone || c_.failed()) return weight;
    return b_.map(Op::select, {valid_, weight, b_.scalar(type, 0)});
  }

  ValueId reduced(ValueId loss, ValueId weight) {
    if (reduction_ == "none") return loss;
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < c_.rank(loss); ++i) axes.push_back(i);
    if (reduction_ == "mean" && weight == kNone) return b_.reduce(loss, "mean", axes, false);
    const ValueId sum = b_.reduce(loss, "sum", axes, false);
    return reduction_ == "sum" ? sum : b_.map(Op::div, {sum, b_.reduce(weight, "sum", axes, false)});
  }

  OpContext& c_;
  Builder& b_;
  std::string reduction_;
  ValueId valid_ = kNone;  // where a target is not ignored; kNone where none is
};

}  // namespace

Results lower_negative_log_likelihood_loss(OpContext& c) {
  return Loss(c).run(c.in(0));
}

Results lower_softmax_cross_entropy_loss(OpContext& c) {
  const ValueId scores = c.in(0);
  if (c.rank(scores) < 2) {
    return c.fail(c.about_input(0, Code::operand_rank, "'scores' must be [N, C, d...]")
                      .because("found " + c.describe(scores)));
  }
  const ValueId log_prob = c.build().op(Op::log_softmax, {c.wide(scores)}, {{"axis", int64_t{1}}});
  const ValueId loss = Loss(c).run(log_prob);
  return std::vector<ValueId>{loss, c.failed() ? kNone : c.build().cast(log_prob, c.dtype(scores))};
}

}  // namespace ge
