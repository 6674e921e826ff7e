// RotaryEmbedding (opset 23 on): pairs of elements turned by an angle that depends on the position.
//   first' = cos first - sin second, second' = sin first + cos second
// Pairs are (i, i + half) of the turned part, or (2i, 2i + 1) where interleaved; elements beyond
// rotary_embedding_dim stay. And RotaryEmbedding of com.microsoft, which always has position_ids.
#include "compiler/onnx_ops/rotary.h"

#include "base/text.h"

namespace ge {
ValueId rotate_pairs(OpContext& c, ValueId x, ValueId cosine, ValueId sine, const RotaryPairs& pairs) {
  if (c.failed()) return kNone;
  Builder& b = c.build();
  const Dim turned = pairs.half * Dim(2), rest = c.dims(x)[3] - turned;
  const ValueId part = rest.is_value(0) ? x : c.slice_axis(x, 3, Dim(0), turned);
  if (c.failed()) return kNone;
  // Pairs as an axis of two: its halves have changed places where it is read backwards.
  const Dims whole = c.dims(part);
  const size_t axis = pairs.interleaved ? 4 : 3;
  const auto with_axis = [&](Dims dims, const Dim& extent) {
    dims.back() = pairs.half;
    dims.insert(dims.begin() + static_cast<int64_t>(axis), extent);
    return dims;
  };
  const Dims shape = with_axis(whole, 2);
  Dims starts(5);
  starts[axis] = 1;
  std::vector<int64_t> steps(5, 1);
  steps[axis] = -1;
  const ValueId in = b.reshape(part, shape), swapped = c.slice(in, starts, steps, shape);
  const auto factor = [&](ValueId angle) { return b.reshape(angle, with_axis(c.dims(angle), 1)); };
  const ValueId signs =
      b.cast(b.constant(tensor_of_floats(
                 pairs.interleaved ? std::vector<int64_t>{2} : std::vector<int64_t>{2, 1}, {-1, 1})),
             c.dtype(x));
  const ValueId y5 = b.map(Op::add, {b.map(Op::mul, {factor(cosine), in}),
                                     b.map(Op::mul, {b.map(Op::mul, {factor(sine), signs}), swapped})});
  if (c.failed()) return kNone;
  const ValueId y = b.reshape(y5, whole);
  return rest.is_value(0) ? y : c.concat({y, c.slice_axis(x, 3, turned, rest)}, 3);
}

namespace {

class Rotary {
 public:
  explicit Rotary(OpContext& c) : c_(c), b_(c.build()) {}

  ValueId run() {
    const ValueId x = with_heads();
    if (!read_turned(x)) return kNone;
    const ValueId cosine = angles(1), sine = angles(2);
    if (c_.failed()) return kNone;
    const ValueId y = rotate_pairs(c_, x, cosine, sine, {half_, interleaved_});
    return c_.failed() ? kNone : b_.reshape(y, c_.dims(c_.in(0)));
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

  OpContext& c_;
  Builder& b_;
  bool flat_ = false, interleaved_ = false;
  Dim half_;
};

// com.microsoft: [batch, sequence, hidden] or [batch, heads, sequence, size]; position_ids [batch, sequence],
// or [1] where the sequence starts.
class MicrosoftRotary {
 public:
  explicit MicrosoftRotary(OpContext& c) : c_(c), b_(c.build()) {}

  ValueId run() {
    if (!read_attributes()) return kNone;
    const ValueId x = with_heads();
    if (c_.failed()) return kNone;
    const Dims& dims = c_.dims(x);
    const ValueId positions = position_ids(dims[0], dims[flat_ ? 1 : 2]);
    const ValueId cosine = angles(2, positions), sine = angles(3, positions);
    const ValueId y =
        rotate_pairs(c_, x, cosine, sine, {c_.dims(c_.in(2))[1], c_.int_attr("interleaved") != 0});
    return c_.failed() ? kNone : b_.reshape(y, c_.dims(c_.in(0)));
  }

 private:
  bool read_attributes() {
    for (const size_t cache : {2, 3}) {
      if (c_.rank(c_.in(cache)) == 2) continue;
      c_.fail(c_.about_input(cache, Code::operand_rank,
                             "'" + c_.op().input_name(cache) + "' must be [positions, half]")
                  .because("found " + c_.describe(c_.in(cache))));
      return false;
    }
    const int64_t turned = c_.int_attr("rotary_embedding_dim");
    if (turned != 0 && (turned < 0 || c_.int_attr("num_heads") == 0))
      c_.fail(c_.about_attr("rotary_embedding_dim", Code::bad_attribute,
                            "rotary_embedding_dim must be positive and needs num_heads")
                  .because("found " + std::to_string(turned)));
    if (turned != 0)
      c_.require_equal(c_.dims(c_.in(2))[1] * Dim(2), Dim(turned),
                       "the caches do not fit rotary_embedding_dim");
    if (c_.int_attr("is_packed_batching") != 0)
      c_.fail(
          c_.about_attr("is_packed_batching", Code::unsupported_feature, "packed batches are not supported"));
    if (c_.float_attr("scale") != 1)
      c_.fail(
          c_.about_attr("scale", Code::unsupported_feature, "a scale other than 1 is not supported")
              .because("found " + double_text(c_.float_attr("scale")) + "; ONNX Runtime does not apply it"));
    return !c_.failed();
  }

  ValueId with_heads() {
    const ValueId x = c_.in(0);
    const Dims& dims = c_.dims(x);
    if (c_.rank(x) == 4) return check_size(x);
    if (c_.rank(x) != 3) {
      return c_.fail(c_.about_input(0, Code::operand_rank, "'input' must have rank 3 or 4")
                         .because("found " + c_.describe(x)));
    }
    flat_ = true;
    const int64_t heads = c_.int_attr("num_heads");
    const Dim& half = c_.dims(c_.in(2))[1];
    const auto size = heads > 0 ? OpContext::split(dims[2], heads) : std::optional(half * Dim(2));
    const auto count = heads > 0 ? std::optional(Dim(heads)) : Dim::exact_quotient(dims[2], half * Dim(2));
    if (heads >= 0 && size && count) return check_size(b_.reshape(x, {dims[0], dims[1], *count, *size}));
    return c_.fail(
        c_.about_attr("num_heads", Code::bad_attribute, "the last dim of 'input' is no multiple of the heads")
            .because("found num_heads " + std::to_string(heads) + ", " + c_.describe(x) + " and " +
                     c_.describe(c_.in(2))));
  }

  // No more is turned than a head has.
  ValueId check_size(ValueId x) {
    if (c_.failed()) return kNone;
    const auto excess = (c_.dims(c_.in(2))[1] * Dim(2) - c_.dims(x)[3]).value();
    if (!excess || *excess <= 0) return x;
    return c_.fail(
        c_.about_input(2, Code::shape_mismatch, "the caches hold more angles than a head has pairs")
            .because("found " + c_.describe(c_.in(2)) + "; a head has " + c_.dims(x)[3].to_string()));
  }

  ValueId position_ids(const Dim& batch, const Dim& sequence) {
    const ValueId given = c_.in(1);
    if (c_.rank(given) == 2) return b_.broadcast(given, {batch, sequence});
    if (!product(c_.dims(given)).is_value(1)) {
      return c_.fail(
          c_.about_input(1, Code::operand_rank, "'position_ids' must be [batch, sequence] or one number")
              .because("found " + c_.describe(given)));
    }
    const ValueId all = b_.map(Op::add, {c_.positions({sequence}, 0), b_.reshape(given, {})});
    return b_.broadcast(all, {batch, sequence});
  }

  // [batch, sequence, half] with an axis of 1 for the heads.
  ValueId angles(size_t input, ValueId positions) {
    if (c_.failed()) return kNone;
    const ValueId rows = b_.op(Op::gather, {c_.in(input), positions}, {{"axis", int64_t{0}}});
    if (c_.failed()) return kNone;
    Dims shape = c_.dims(rows);
    shape.insert(shape.begin() + (flat_ ? 2 : 1), Dim(1));
    return b_.reshape(rows, shape);
  }

  OpContext& c_;
  Builder& b_;
  bool flat_ = false;
};

}  // namespace

Results lower_rotary_embedding(OpContext& c) {
  return Rotary(c).run();
}
Results lower_microsoft_rotary_embedding(OpContext& c) {
  return MicrosoftRotary(c).run();
}

}  // namespace ge
