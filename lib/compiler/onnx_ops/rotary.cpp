// RotaryEmbedding (opset 23 on): pairs of elements turned by an angle that depends on the position.
//   first' = cos first - sin second, second' = sin first + cos second
// Pairs are (i, i + half) of the turned part, or (2i, 2i + 1) where interleaved; elements beyond
// rotary_embedding_dim stay.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

class Rotary {
 public:
  explicit Rotary(OpContext& c) : c_(c), b_(c.build()) {}

  ValueId run() {
    const ValueId x = with_heads();
    if (!read_turned(x)) return kNone;
    const ValueId cosine = angles(1), sine = angles(2);
    if (c_.failed()) return kNone;
    const ValueId first = part(x, Dim(0));
    const ValueId second = part(x, interleaved_ ? Dim(1) : half_);
    const ValueId real = b_.map(Op::sub, {b_.map(Op::mul, {cosine, first}), b_.map(Op::mul, {sine, second})});
    const ValueId imaginary =
        b_.map(Op::add, {b_.map(Op::mul, {sine, first}), b_.map(Op::mul, {cosine, second})});
    if (c_.failed()) return kNone;
    std::vector<ValueId> parts =
        interleaved_ ? std::vector<ValueId>{paired(real, imaginary)} : std::vector<ValueId>{real, imaginary};
    const Dim rest = c_.dims(x)[3] - half_ * Dim(2);
    if (!rest.is_value(0)) parts.push_back(c_.slice_axis(x, 3, half_ * Dim(2), rest));
    return b_.reshape(c_.concat(std::move(parts), 3), c_.dims(c_.in(0)));
  }

 private:
  // [batch, sequence, heads, size] of a rank 3 input, [batch, heads, sequence, size] of a rank 4 one.
  ValueId with_heads() {
    const ValueId x = c_.in(0);
    const Dims& dims = c_.dims(x);
    if (c_.rank(x) == 4) return x;
    if (c_.rank(x) != 3) {
      return c_.fail(c_.about_input(0, Code::operand_rank, "'X' must have rank 3 or 4")
                         .because("found " + c_.describe(x)));
    }
    flat_ = true;
    const int64_t heads = c_.int_attr("num_heads");
    const auto size = OpContext::split(dims[2], heads);
    if (size) return b_.reshape(x, {dims[0], dims[1], Dim(heads), *size});
    return c_.fail(c_.about_attr("num_heads", heads == 0 ? Code::missing_attribute : Code::bad_attribute,
                                 "num_heads must divide the last dim of an 'X' of rank 3")
                       .because("found " + std::to_string(heads) + " and " + c_.describe(x)));
  }

  // How much of the last axis is turned: half_ pairs.
  bool read_turned(ValueId x) {
    if (c_.failed()) return false;
    interleaved_ = c_.int_attr("interleaved") != 0;
    const int64_t asked = c_.int_attr("rotary_embedding_dim");
    const Dim turned = asked == 0 ? c_.dims(x)[3] : Dim(asked);
    const auto half = OpContext::split(turned, 2);
    const auto size = c_.dims(x)[3].value();
    if (asked < 0 || !half || (size && asked > *size)) {
      c_.fail(c_.about_attr("rotary_embedding_dim", Code::bad_attribute,
                            "the turned part must be even and no longer than a head")
                  .because("found " + turned.to_string() + "; a head has " + c_.dims(x)[3].to_string()));
      return false;
    }
    half_ = *half;
    return true;
  }

  // A cache as [batch, sequence, half] with an axis of 1 for the heads.
  ValueId angles(size_t input) {
    ValueId cache = c_.in(input);
    const int64_t rank = c_.has(3) ? 2 : 3;
    if (c_.failed()) return kNone;
    if (c_.rank(cache) != rank) {
      return c_.fail(c_.about_input(input, Code::operand_rank,
                                    "'" + c_.op().input_name(input) + "' must have rank " +
                                        std::to_string(rank) + (c_.has(3) ? " beside" : " without") +
                                        " position_ids")
                         .because("found " + c_.describe(cache)));
    }
    if (c_.has(3)) {
      if (c_.rank(c_.in(3)) != 2) {
        return c_.fail(c_.about_input(3, Code::operand_rank, "'position_ids' must have rank 2")
                           .because("found " + c_.describe(c_.in(3))));
      }
      cache = b_.op(Op::gather, {cache, c_.in(3)}, {{"axis", int64_t{0}}});
      if (c_.failed()) return kNone;
    }
    c_.require_equal(c_.dims(cache)[2], half_, "the caches must hold one value for each turned pair");
    Dims shape = c_.dims(cache);
    shape.insert(shape.begin() + (flat_ ? 2 : 1), Dim(1));
    return b_.reshape(cache, shape);
  }

  ValueId part(ValueId x, const Dim& from) { return c_.slice_axis(x, 3, from, half_, interleaved_ ? 2 : 1); }

  // The elements of a and b by turns.
  ValueId paired(ValueId a, ValueId b) {
    Dims unit = c_.dims(a), shape = unit;
    unit.emplace_back(1);
    shape.back() = half_ * Dim(2);
    return b_.reshape(c_.concat({b_.reshape(a, unit), b_.reshape(b, unit)}, 4), shape);
  }

  OpContext& c_;
  Builder& b_;
  bool flat_ = false, interleaved_ = false;
  Dim half_;
};

}  // namespace

Results lower_rotary_embedding(OpContext& c) {
  return Rotary(c).run();
}

}  // namespace ge
