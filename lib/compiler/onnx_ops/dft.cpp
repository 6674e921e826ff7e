// DFT and STFT. A transform of a known length n1 n2 is one of n1, a turn of each element, and one of n2
// (Cooley and Tukey); of short, prime and symbolic lengths it is a product with the matrix of cos and sin.
// Angles are reduced as whole numbers and taken in float64.
#include <numbers>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

constexpr int64_t kShort = 64;             // up to here a product is cheaper than splitting
constexpr int64_t kLongestProduct = 8192;  // whose matrices have 2 x 256 MiB

struct Complex {
  ValueId re = kNone, im = kNone;  // im: kNone for real ones
};

class Transform {
 public:
  Transform(OpContext& c, bool inverse) : c_(c), b_(c.build()), sign_(inverse ? 1 : -1) {}

  // [rows, length] each; not divided by the length.
  Complex run(Complex x) {
    if (c_.failed()) return {};
    const auto n = c_.dims(x.re)[1].value();
    if (!n || *n <= kShort) return by_product(x);
    int64_t first = 1;
    for (int64_t d = 2; d * d <= *n; ++d)
      if (*n % d == 0) first = d;
    if (first > 1) return by_parts(x, first, *n / first);
    if (*n <= kLongestProduct) return by_product(x);
    c_.fail(c_.about_input(0, Code::unsupported_feature, "a prime length this long is not supported")
                .because("found " + std::to_string(*n) + ", up to " + std::to_string(kLongestProduct))
                .try_("choose a dft_length with factors"));
    return {};
  }

 private:
  // cos and sin of sign 2 pi (i j mod n) / n at [rows, columns].
  Complex turns(const Dim& rows, const Dim& columns, const Dim& n, DType type) {
    const Dims plane{rows, columns};
    const ValueId step = b_.map(Op::mul, {c_.positions({rows, 1}, 0), c_.positions({1, columns}, 1)});
    const ValueId part = b_.cast(b_.map(Op::mod, {step, c_.size_scalar(n)}), DType::float64);
    const ValueId length = b_.cast(c_.size_scalar(n), DType::float64);
    const ValueId angle = b_.map(
        Op::mul, {b_.map(Op::div, {part, length}), b_.scalar(DType::float64, sign_ * 2 * std::numbers::pi)});
    return {b_.cast(b_.map(Op::cos, {angle}), type), b_.cast(b_.map(Op::sin, {angle}), type)};
  }

  // (a + i b) op (c + i d) where op is a product or a dot
  Complex times(const Complex& x, const Complex& y, const auto& product) {
    Complex z{product(x.re, y.re), product(x.re, y.im)};
    if (x.im == kNone) return z;
    return {b_.map(Op::sub, {z.re, product(x.im, y.im)}), b_.map(Op::add, {z.im, product(x.im, y.re)})};
  }

  Complex by_product(const Complex& x) {
    const Dim n = c_.dims(x.re)[1];
    return times(x, turns(n, n, n, c_.dtype(x.re)), [&](ValueId a, ValueId b) {
      return c_.failed() ? kNone : b_.op(Op::dot, {a, b});
    });
  }

  Complex each(const Complex& x, const auto& change) {
    return {change(x.re), x.im == kNone ? kNone : change(x.im)};
  }

  // Element n = n2 a + b, bin k = k1 + n1 k2.
  Complex by_parts(const Complex& x, int64_t n1, int64_t n2) {
    const Dim rows = c_.dims(x.re)[0];
    const auto swapped = [&](ValueId v, int64_t a, int64_t b) {  // [rows, a, b] to [rows, b, a]
      return b_.transpose(b_.reshape(v, {rows, Dim(a), Dim(b)}), {0, 2, 1});
    };
    Complex y = each(x, [&](ValueId v) { return b_.reshape(swapped(v, n1, n2), {rows * Dim(n2), Dim(n1)}); });
    y = run(y);
    if (c_.failed()) return {};
    y = each(y, [&](ValueId v) { return b_.reshape(v, {rows, Dim(n2), Dim(n1)}); });
    y = times(y, turns(Dim(n2), Dim(n1), Dim(n1 * n2), c_.dtype(y.re)), [&](ValueId a, ValueId b) {
      return b_.map(Op::mul, {a, b});
    });
    y = run(each(y, [&](ValueId v) { return b_.reshape(swapped(v, n2, n1), {rows * Dim(n1), Dim(n2)}); }));
    if (c_.failed()) return {};
    return each(y, [&](ValueId v) { return b_.reshape(swapped(v, n1, n2), {rows, Dim(n1 * n2)}); });
  }

  OpContext& c_;
  Builder& b_;
  double sign_;
};

// x [rows, n] cut to, or filled with zeros up to, `wanted`.
ValueId fitted(OpContext& c, ValueId x, const Dim& wanted) {
  if (c.failed() || c.dims(x)[1] == wanted) return x;
  const Dim kept = Dim::min(c.dims(x)[1], wanted), rows = c.dims(x)[0];
  x = c.slice_axis(x, 1, Dim(0), kept);
  if (kept == wanted) return x;
  return c.concat({x, c.build().broadcast(c.scalar_like(x, 0), {rows, wanted - kept})}, 1);
}

// The bins that a one-sided spectrum leaves out are those it has, mirrored and conjugated.
Complex both_sides(OpContext& c, const Complex& half, const Dim& length) {
  if (c.failed()) return {};
  const Dim rest = length - c.dims(half.re)[1];
  const auto mirrored = [&](ValueId v) { return c.slice_axis(v, 1, rest, rest, -1); };
  return {c.concat({half.re, mirrored(half.re)}, 1),
          c.concat({half.im, c.build().map(Op::neg, {mirrored(half.im)})}, 1)};
}

// A length of one number; `otherwise` where the input is absent.
std::optional<Dim> length_of(OpContext& c, size_t input, const Dim& otherwise) {
  return c.has(input) ? c.size_input(input, 1) : otherwise;
}

// x [..., 1 or 2] as rows of its axis: [other dims..., axis], real and imaginary parts apart.
struct Signal {
  Complex rows;
  Dims other;  // dims but the axis and the last
};

std::optional<Signal> signal_of(OpContext& c, ValueId x, int64_t axis) {
  Builder& b = c.build();
  const int64_t rank = c.rank(x);
  const auto parts = c.dims(x).back().value();
  if (!parts || (*parts != 1 && *parts != 2)) {
    c.fail(c.about_input(0, Code::shape_mismatch, "the last dim must be 1 (real) or 2 (complex)")
               .because("found " + c.describe(x)));
    return std::nullopt;
  }
  std::vector<int64_t> perm;
  Signal signal;
  for (int64_t i = 0; i + 1 < rank; ++i) {
    if (i == axis) continue;
    perm.push_back(i);
    signal.other.push_back(c.dims(x)[i]);
  }
  perm.push_back(axis);
  perm.push_back(rank - 1);
  const ValueId last = b.transpose(c.wide(x), perm);
  const auto part = [&](int64_t i) {
    return b.reshape(c.slice_axis(last, rank - 1, Dim(i), Dim(1)), {product(signal.other), c.dims(x)[axis]});
  };
  signal.rows.re = part(0);
  if (*parts == 2) signal.rows.im = part(1);
  return c.failed() ? std::nullopt : std::optional(std::move(signal));
}

// Back to [..., parts] with the axis where it was.
ValueId joined(OpContext& c, const Complex& y, const Signal& signal, int64_t axis, DType type) {
  if (c.failed()) return kNone;
  Builder& b = c.build();
  Dims shape = signal.other;
  shape.push_back(c.dims(y.re)[1]);
  shape.emplace_back(1);
  std::vector<ValueId> parts{b.reshape(y.re, shape)};
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  if (y.im != kNone) parts.push_back(b.reshape(y.im, shape));
  const ValueId whole = c.concat(std::move(parts), last);
  std::vector<int64_t> perm;
  for (int64_t i = 0; i + 1 < last; ++i) perm.push_back(i);
  perm.insert(perm.begin() + axis, last - 1);
  perm.push_back(last);
  return c.failed() ? kNone : b.cast(b.transpose(whole, perm), type);
}

Complex first_bins(OpContext& c, const Complex& y, const Dim& length) {
  if (c.failed()) return {};
  const Dim bins = Dim::floor_div(length, Dim(2)) + Dim(1);
  return {c.slice_axis(y.re, 1, Dim(0), bins), c.slice_axis(y.im, 1, Dim(0), bins)};
}

std::optional<int64_t> transform_axis(OpContext& c) {
  const int64_t rank = c.rank(c.in(0));
  if (rank < 2) {
    c.fail(c.about_input(0, Code::operand_rank, "'input' must be [..., signal, 1 or 2]")
               .because("found " + c.describe(c.in(0))));
    return std::nullopt;
  }
  int64_t axis = -2;
  if (c.op().attribute("axis")) {
    axis = c.int_attr("axis");
  } else if (c.has(2)) {
    const auto given = c.integers(2);
    if (!given) return std::nullopt;
    axis = given->size() == 1 ? given->front() : rank;
  }
  if (axis >= -rank && axis < rank && axis != -1 && axis != rank - 1) return axis < 0 ? axis + rank : axis;
  c.fail(c.about_node(Code::axis_out_of_range, "the axis is out of range, or that of the complex parts")
             .because("found " + std::to_string(axis) + "; " + c.describe(c.in(0)) + " has rank " +
                      std::to_string(rank)));
  return std::nullopt;
}

}  // namespace

Results lower_dft(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const bool inverse = c.int_attr("inverse") != 0, onesided = c.int_attr("onesided") != 0;
  const auto axis = transform_axis(c);
  const auto signal = axis ? signal_of(c, x, *axis) : std::nullopt;
  if (!signal) return kNone;
  const Dim size = c.dims(x)[*axis];
  const bool to_real = inverse && onesided;
  const auto length = length_of(c, 1, to_real ? (size - Dim(1)) * Dim(2) : size);
  if (!length) return kNone;
  if (onesided && inverse == (signal->rows.im == kNone)) {
    return c.fail(
        c.about_attr("onesided", Code::bad_attribute,
                     inverse ? "the inverse of one side needs complex input" : "one side is of real input")
            .because("found " + c.describe(x)));
  }
  const Dim taken = to_real ? Dim::floor_div(*length, Dim(2)) + Dim(1) : *length;
  Complex rows{fitted(c, signal->rows.re, taken),
               signal->rows.im == kNone ? kNone : fitted(c, signal->rows.im, taken)};
  if (to_real) rows = both_sides(c, rows, *length);
  Complex y = Transform(c, inverse).run(rows);
  if (inverse && !c.failed()) {
    const ValueId count = b.cast(c.size_scalar(*length), c.dtype(y.re));
    y = {b.map(Op::div, {y.re, count}), b.map(Op::div, {y.im, count})};
  }
  if (onesided && !inverse) y = first_bins(c, y, *length);
  if (to_real) y.im = kNone;
  return joined(c, y, *signal, *axis, c.dtype(x));
}

// Inputs signal [batch, samples, 1 or 2], frame_step, window, frame_length.
Results lower_stft(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  if (c.rank(x) != 3) {
    return c.fail(c.about_input(0, Code::operand_rank, "'signal' must be [batch, samples, 1 or 2]")
                      .because("found " + c.describe(x)));
  }
  if (c.has(2) && c.rank(c.in(2)) != 1) {
    return c.fail(c.about_input(2, Code::operand_rank, "'window' must be a vector")
                      .because("found " + c.describe(c.in(2))));
  }
  const Dim samples = c.dims(x)[1];
  const auto step = c.integers(1);
  const auto length = step ? length_of(c, 3, c.has(2) ? c.dims(c.in(2))[0] : samples) : std::nullopt;
  if (!length) return kNone;
  if (step->size() != 1 || step->front() < 1) {
    return c.fail(c.about_input(1, Code::bad_attribute, "'frame_step' must be one number from 1 up")
                      .because("found " + c.describe(c.in(1))));
  }
  const auto room = (samples - *length).value();
  if (room && *room < 0) {
    return c.fail(c.about_input(0, Code::shape_mismatch, "the signal is shorter than a frame")
                      .because("found " + c.describe(x) + " for frames of " + length->to_string()));
  }
  const Dim frames = Dim::floor_div(samples - *length, Dim(step->front())) + Dim(1);
  const ValueId at =
      b.map(Op::add, {b.map(Op::mul, {c.positions({frames, 1}, 0), c.size_scalar(Dim(step->front()))}),
                      c.positions({1, *length}, 1)});
  if (c.failed()) return kNone;
  ValueId framed =
      b.op(Op::gather, {c.wide(x), at}, {{"axis", int64_t{1}}});  // [batch, frames, length, parts]
  if (c.has(2)) {
    c.require_equal(c.dims(c.in(2))[0], *length, "'window' is not as long as a frame");
    framed = b.map(Op::mul, {framed, b.reshape(c.wide(c.in(2)), {*length, 1})});
  }
  const auto signal = c.failed() ? std::nullopt : signal_of(c, framed, 2);
  if (!signal) return kNone;
  const bool onesided = c.int_attr("onesided") != 0;
  if (onesided && signal->rows.im != kNone) {
    return c.fail(c.about_attr("onesided", Code::bad_attribute, "one side is of a real signal")
                      .because("found " + c.describe(x))
                      .try_("set \"onesided\" to 0"));
  }
  Complex y = Transform(c, false).run(signal->rows);
  if (onesided) y = first_bins(c, y, *length);
  return joined(c, y, *signal, 2, c.dtype(x));
}

}  // namespace ge
