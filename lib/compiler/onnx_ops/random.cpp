// RandomUniform, RandomNormal, their Like forms, Bernoulli and Multinomial: Philox4x32-10 (Salmon et al.,
// 2011) on int64 maps, so that words are the same on every device and in every run.
//   counter  (low and high word of the element's number in row-major order, 0, 0)
//   key      (the bits of `seed` as float32, 0); without a seed (a hash of the node's place in the model, 1)
// float32 and narrower take the upper 24 bits of a word, float64 53 bits of two.
#include <bit>
#include <numbers>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

constexpr double kWordMask = 4294967295.0;

struct Key {
  uint32_t low = 0, high = 0;
};

// FNV-1a; models give each node a place of its own.
uint32_t hash_of(const std::string& text) {
  uint32_t h = 2166136261U;
  for (const char ch : text) h = (h ^ static_cast<unsigned char>(ch)) * 16777619U;
  return h;
}

Key key_of(OpContext& c) {
  if (c.has_attr("seed")) return {std::bit_cast<uint32_t>(static_cast<float>(c.float_attr("seed"))), 0};
  const Diagnostic node = c.about_node(Code::internal, "");
  return {hash_of(node.path + node.message), 1};
}

class Philox {
 public:
  Philox(OpContext& c, const Dims& shape) : c_(c), b_(c.build()), key_(key_of(c)) {
    const ValueId n = b_.reshape(c.positions({product(shape)}, 0), shape);
    word_[0] = low(n);
    word_[1] = low(b_.map(Op::shift_right, {n, number(32)}));
    word_[2] = word_[3] = number(0);
    for (int round = 0; round < 10; ++round) step();
  }

  // [0, 1) in `type`, from word `first` (and the next, for float64).
  ValueId uniform(DType type, int first) {
    ValueId bits = kNone;
    if (type == DType::float64) {
      const ValueId upper = b_.map(Op::mul, {word_[first], number(2097152)});  // 2^21
      bits = b_.map(Op::add, {upper, b_.map(Op::shift_right, {word_[first + 1], number(11)})});
    } else {
      bits = b_.map(Op::shift_right, {word_[first], number(8)});
    }
    const double unit = type == DType::float64 ? 0x1p-53 : 0x1p-24;
    return b_.map(Op::mul, {b_.cast(bits, type), b_.scalar(type, unit)});
  }

  // Mean 0 and deviation 1, by Box and Muller.
  ValueId normal(DType type) {
    const ValueId one = b_.scalar(type, 1);
    const ValueId radius = b_.map(Op::log, {b_.map(Op::sub, {one, uniform(type, 0)})});  // of (0, 1]
    const ValueId angle = b_.map(Op::mul, {uniform(type, 2), b_.scalar(type, 2 * std::numbers::pi)});
    const ValueId length = b_.map(Op::sqrt, {b_.map(Op::mul, {radius, b_.scalar(type, -2)})});
    return b_.map(Op::mul, {length, b_.map(Op::cos, {angle})});
  }

 private:
  ValueId number(double v) { return b_.scalar(DType::int64, v); }
  ValueId low(ValueId v) { return b_.map(Op::bit_and, {v, number(kWordMask)}); }
  ValueId exclusive(ValueId a, ValueId b) { return b_.map(Op::bit_xor, {a, b}); }

  // The product of two words wraps as int64 does; masked, its halves are those of the unsigned one.
  void step() {
    const ValueId p = b_.map(Op::mul, {word_[0], number(3528531795.0)});  // 0xD2511F53
    const ValueId q = b_.map(Op::mul, {word_[2], number(3449720151.0)});  // 0xCD9E8D57
    const ValueId p_high = low(b_.map(Op::shift_right, {p, number(32)})),
                  q_high = low(b_.map(Op::shift_right, {q, number(32)}));
    const ValueId first = exclusive(exclusive(q_high, word_[1]), number(key_.low));
    const ValueId third = exclusive(exclusive(p_high, word_[3]), number(key_.high));
    word_[0] = first, word_[1] = low(q), word_[2] = third, word_[3] = low(p);
    key_.low += 0x9E3779B9U;
    key_.high += 0xBB67AE85U;
  }

  OpContext& c_;
  Builder& b_;
  Key key_;
  ValueId word_[4];
};

// The attribute dtype, else `otherwise`; a float.
std::optional<DType> float_type(OpContext& c, DType otherwise) {
  const DType dtype = c.asked_dtype("dtype").value_or(otherwise);
  if (is_float(dtype) && bits_of(dtype) >= 16) return dtype;
  c.fail(c.about_attr("dtype", Code::operand_dtype, "random numbers are floats")
             .because("found " + std::string(name_of(dtype)))
             .try_("set \"dtype\" to a float"));
  return std::nullopt;
}

DType wide_type(DType dtype) {
  return dtype == DType::float64 ? dtype : DType::float32;
}

std::optional<Dims> shape_attr(OpContext& c) {
  Dims shape;
  for (const int64_t d : c.ints_attr("shape")) {
    if (d < 0) {
      c.fail(c.about_attr("shape", Code::bad_dim, "a dim is negative").because("found " + std::to_string(d)));
      return std::nullopt;
    }
    shape.emplace_back(d);
  }
  return shape;
}

// low + u (high - low), or mean + scale z.
ValueId scaled(OpContext& c, ValueId v, const char* factor, const char* base, bool difference) {
  const double from = c.float_attr(base), by = c.float_attr(factor) - (difference ? from : 0);
  Builder& b = c.build();
  return b.map(Op::add, {b.map(Op::mul, {v, c.scalar_like(v, by)}), c.scalar_like(v, from)});
}

Results uniform(OpContext& c, const std::optional<Dims>& shape, DType otherwise) {
  const auto type = shape ? float_type(c, otherwise) : std::nullopt;
  if (!type) return kNone;
  return c.build().cast(scaled(c, Philox(c, *shape).uniform(wide_type(*type), 0), "high", "low", true),
                        *type);
}

Results normal(OpContext& c, const std::optional<Dims>& shape, DType otherwise) {
  const auto type = shape ? float_type(c, otherwise) : std::nullopt;
  if (!type) return kNone;
  return c.build().cast(scaled(c, Philox(c, *shape).normal(wide_type(*type)), "scale", "mean", false), *type);
}

}  // namespace

Results lower_random_uniform(OpContext& c) {
  return uniform(c, shape_attr(c), DType::float32);
}
Results lower_random_normal(OpContext& c) {
  return normal(c, shape_attr(c), DType::float32);
}
Results lower_random_uniform_like(OpContext& c) {
  return uniform(c, c.dims(c.in(0)), c.dtype(c.in(0)));
}
Results lower_random_normal_like(OpContext& c) {
  return normal(c, c.dims(c.in(0)), c.dtype(c.in(0)));
}

// 1 with the probability that the input says.
Results lower_bernoulli(OpContext& c) {
  Builder& b = c.build();
  const DType to = c.asked_dtype("dtype").value_or(c.dtype(c.in(0)));
  const ValueId p = c.wide(c.in(0));
  const ValueId hit = b.map(Op::less, {Philox(c, c.dims(p)).uniform(wide_type(c.dtype(p)), 0), p});
  return c.convert(hit, to);
}

// Classes drawn by the sums of exp(input) up to each: the first whose sum is above u times the whole.
Results lower_multinomial(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t samples = c.int_attr("sample_size");
  const DType to = c.asked_dtype("dtype").value_or(DType::int32);
  if (c.rank(x) != 2)
    return c.fail(c.about_input(0, Code::operand_rank, "'input' must be [batch, classes]")
                      .because("found " + c.describe(x)));
  if (samples < 0) {
    return c.fail(c.about_attr("sample_size", Code::bad_attribute, "sample_size is negative")
                      .because("found " + std::to_string(samples)));
  }
  if (to != DType::int32 && to != DType::int64) {
    return c.fail(c.about_attr("dtype", Code::operand_dtype, "classes are int32 or int64")
                      .because("found " + std::string(name_of(to))));
  }
  const Dims dims = c.dims(x);
  c.require_at_least(dims[1], Dim(1), "there must be a class to draw");
  const ValueId logs = b.cast(x, DType::float64);
  const ValueId p = b.op(Op::softmax, {logs}, {{"axis", int64_t{1}}});
  if (c.failed()) return kNone;
  const ValueId sums = b.op(Op::scan, {p},
                            {{"kind", std::string("sum")},
                             {"axis", int64_t{1}},
                             {"exclusive", int64_t{0}},
                             {"reverse", int64_t{0}}});
  const ValueId u = Philox(c, {dims[0], Dim(samples)}).uniform(DType::float64, 0);
  const ValueId whole = b.reduce(p, "sum", {1}, true);
  const ValueId target = b.map(Op::mul, {u, whole});
  const ValueId below = b.map(Op::less_equal, {b.reshape(sums, {dims[0], 1, dims[1]}),
                                               b.reshape(target, {dims[0], Dim(samples), 1})});
  const ValueId index = b.reduce(b.cast(below, DType::int64), "sum", {2}, false);
  return b.cast(b.map(Op::min, {index, c.size_scalar(dims[1] - Dim(1))}), to);
}

}  // namespace ge
