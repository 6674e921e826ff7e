#include "fuzz/patterns.h"

#include <cmath>

namespace ge::test {
namespace {

// Writes a formula node by node; kNone runs through to the end.
class Formula {
 public:
  explicit Formula(GraphMaker& m) : m_(m), r_(m.random()) {}
  Random& random() { return r_; }
  GraphMaker& maker() { return m_; }
  bool maybe(int percent = 50) { return r_.chance(percent); }

  ValueId op(const char* name, std::vector<ValueId> operands, AttrMap attrs = {}) {
    return m_.add(name, std::move(operands), std::move(attrs));
  }
  // Either order: addition and multiplication commute.
  ValueId both(const char* name, ValueId a, ValueId b) {
    return maybe(30) ? op(name, {b, a}) : op(name, {a, b});
  }
  // A number of x's dtype; now and then a little off, so that the pattern must not be taken for the real one.
  ValueId n(ValueId x, double value) {
    if (x == kNone) return kNone;
    if (maybe(4)) value *= 1.01;
    return maybe(85) ? m_.number(m_.type(x).dtype, value) : m_.constant(splat(m_.type(x).dtype, {1}, value));
  }
  ValueId mean(ValueId x, const char* kind = "ReduceMean") {
    if (x == kNone) return kNone;
    std::vector<int64_t> axes{maybe(90) ? -1 : 0};
    if (maybe(8)) axes = {-1, -2};
    AttrMap attrs{{"keepdims", int64_t{maybe(96) ? 1 : 0}}};
    const bool by_input = std::string_view(kind) == "ReduceSum" || m_.opset() >= 18;
    if (by_input) return op(kind, {x, m_.ints(axes)}, attrs);
    attrs["axes"] = axes;
    return op(kind, {x}, attrs);
  }
  ValueId parameter(ValueId x) {  // one number for each column
    if (x == kNone) return kNone;
    return m_.exactly(m_.type(x).dtype, {m_.type(x).dims.back()});
  }
  ValueId matrix(ValueId x, const Dim& columns) {
    return m_.exactly(m_.type(x).dtype, {m_.type(x).dims.back(), columns});
  }

 private:
  GraphMaker& m_;
  Random& r_;
};

ValueId gelu_erf(Formula& f, ValueId x) {
  const ValueId scaled =
      f.maybe() ? f.op("Div", {x, f.n(x, std::sqrt(2.0))}) : f.both("Mul", x, f.n(x, std::sqrt(0.5)));
  const ValueId one = f.both("Add", f.op("Erf", {scaled}), f.n(x, 1));
  if (f.maybe()) return f.both("Mul", f.both("Mul", x, f.n(x, 0.5)), one);
  return f.both("Mul", f.both("Mul", x, one), f.n(x, 0.5));
}

ValueId gelu_tanh(Formula& f, ValueId x) {
  const ValueId cube = f.maybe() ? f.op("Pow", {x, f.n(x, 3)}) : f.both("Mul", f.both("Mul", x, x), x);
  const ValueId inner = f.both("Add", x, f.both("Mul", cube, f.n(x, 0.044715)));
  const ValueId tanh = f.op("Tanh", {f.both("Mul", inner, f.n(x, std::sqrt(2 / 3.14159265358979)))});
  return f.both("Mul", f.both("Mul", x, f.n(x, 0.5)), f.both("Add", tanh, f.n(x, 1)));
}

ValueId layer_norm(Formula& f, ValueId x) {
  const ValueId centered = f.op("Sub", {x, f.mean(x)});
  const ValueId square = f.maybe() ? f.op("Pow", {centered, f.n(x, 2)}) : f.op("Mul", {centered, centered});
  const ValueId root = f.op("Sqrt", {f.both("Add", f.mean(square), f.n(x, 1e-3))});
  const ValueId y =
      f.maybe() ? f.op("Div", {centered, root}) : f.both("Mul", centered, f.op("Reciprocal", {root}));
  if (f.maybe(30)) return y;
  return f.both("Add", f.both("Mul", y, f.parameter(x)), f.parameter(x));
}

ValueId rms_norm(Formula& f, ValueId x) {
  const ValueId square = f.maybe() ? f.op("Pow", {x, f.n(x, 2)}) : f.op("Mul", {x, x});
  const ValueId root = f.op("Sqrt", {f.both("Add", f.mean(square), f.n(x, 1e-3))});
  const ValueId y = f.maybe() ? f.op("Div", {x, root}) : f.both("Mul", x, f.op("Reciprocal", {root}));
  return f.maybe(70) ? f.both("Mul", y, f.parameter(x)) : y;
}

ValueId softmax(Formula& f, ValueId x) {
  const ValueId e = f.op("Exp", {f.op("Sub", {x, f.mean(x, "ReduceMax")})});
  return f.op("Div", {e, f.mean(e, "ReduceSum")});
}

ValueId silu(Formula& f, ValueId x) {
  if (f.maybe(30)) return f.op("Div", {x, f.both("Add", f.n(x, 1), f.op("Exp", {f.op("Neg", {x})}))});
  return f.both("Mul", x, f.op("Sigmoid", {x}));
}

ValueId hard_swish(Formula& f, ValueId x) {
  const ValueId shifted = f.both("Add", x, f.n(x, 3));
  GraphMaker& m = f.maker();
  if (x == kNone || shifted == kNone) return kNone;
  const ValueId cut = f.op("Clip", {shifted, m.number(m.type(x).dtype, 0), m.number(m.type(x).dtype, 6)});
  return f.maybe() ? f.op("Div", {f.both("Mul", x, cut), f.n(x, 6)})
                   : f.both("Mul", x, f.op("Div", {cut, f.n(x, 6)}));
}

ValueId attention(Formula& f, ValueId) {
  GraphMaker& m = f.maker();
  Random& r = f.random();
  const DType dtype = m.some_dtype({DType::float32, DType::float16, DType::bfloat16});
  const Dim rows = m.some_dims(1, 1)[0], keys = r.chance(60) ? rows : m.some_dims(1, 1)[0];
  const Dim width = r.in(1, 8);
  Dims batch;
  if (r.chance(70)) batch = {r.in(1, 2), r.in(1, 3)};
  const auto with = [&](Dim a, Dim b) {
    Dims d = batch;
    d.insert(d.end(), {std::move(a), std::move(b)});
    return d;
  };
  const ValueId q = m.exactly(dtype, with(rows, width)), k = m.exactly(dtype, with(keys, width)),
                v = m.exactly(dtype, with(keys, width));
  std::vector<int64_t> perm;
  for (size_t a = 0; a < batch.size() + 2; ++a) perm.push_back(static_cast<int64_t>(a));
  std::swap(perm[batch.size()], perm[batch.size() + 1]);
  ValueId scores = f.op("MatMul", {q, f.op("Transpose", {k}, {{"perm", perm}})});
  if (r.chance(70))
    scores = r.chance(50) ? f.op("Mul", {scores, f.n(q, 0.35)}) : f.op("Div", {scores, f.n(q, 2.5)});
  if (r.chance(50)) scores = f.both("Add", scores, m.partner_of(dtype, with(rows, keys), true));
  return f.op("MatMul", {f.op("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
}

ValueId rotary(Formula& f, ValueId) {
  GraphMaker& m = f.maker();
  const DType dtype = m.some_dtype({DType::float32, DType::float16});
  const Dim rows = m.some_dims(1, 1)[0];
  const int64_t half = f.random().in(1, 4);
  const ValueId x = m.exactly(dtype, {2, rows, 2 * half});
  const auto part = [&](int64_t from, int64_t to) {
    return f.op("Slice", {x, m.ints({from}), m.ints({to}), m.ints({-1})});
  };
  const ValueId first = part(0, half), second = part(half, INT64_MAX);
  const ValueId turned = f.op("Concat", {f.op("Neg", {second}), first}, {{"axis", int64_t{-1}}});
  const ValueId cos = m.exactly(dtype, {rows, 2 * half}), sin = m.exactly(dtype, {rows, 2 * half});
  return f.both("Add", f.both("Mul", x, cos), f.both("Mul", turned, sin));
}

// What a product's epilogue takes: bias, activation, residual; then a normalization.
ValueId with_epilogue(Formula& f, ValueId y) {
  GraphMaker& m = f.maker();
  if (f.maybe(80)) y = f.both("Add", y, f.parameter(y));
  static const std::vector<const char*> kActivations{"Relu", "Tanh", "Sigmoid", "Identity", "Softplus"};
  if (f.maybe(60)) y = f.op(f.random().pick(kActivations), {y});
  if (f.maybe(25)) y = gelu_erf(f, y);
  if (f.maybe(40) && y != kNone) y = f.both("Add", y, m.exactly(m.type(y).dtype, m.type(y).dims));
  if (f.maybe(25) && y != kNone) y = layer_norm(f, y);
  return y;
}

ValueId dense(Formula& f, ValueId x) {
  GraphMaker& m = f.maker();
  if (x == kNone || m.rank(x) < 2) return kNone;
  const Dim columns = f.maybe() ? m.type(x).dims.back() : Dim(f.random().in(1, 9));
  return with_epilogue(f, f.op("MatMul", {x, f.matrix(x, columns)}));
}

// A model's product: few rows, often of a symbolic number; depth and columns that tensor cores and streamed
// weights take.
ValueId deep_product(Formula& f, ValueId) {
  GraphMaker& m = f.maker();
  Random& r = f.random();
  const DType dtype = m.some_dtype({DType::float16, DType::bfloat16, DType::float32});
  const ValueId x = m.exactly(dtype, {m.some_dims(1, 1)[0], 8 * r.in(8, 100)});
  return with_epilogue(
      f, f.op("MatMul", {x, m.leaf(dtype, {m.type(x).dims.back(), 8 * r.in(1, 20)}, r.chance(85))}));
}

// Three products of one value: what becomes one wider product.
ValueId three_products(Formula& f, ValueId x) {
  GraphMaker& m = f.maker();
  if (x == kNone || m.rank(x) < 2) return kNone;
  ValueId y = kNone;
  for (int i = 0; i < 3; ++i) {
    y = f.op("MatMul", {x, f.matrix(x, f.random().in(1, 6))});
    if (f.maybe(70)) y = f.both("Add", y, f.parameter(y));
  }
  return y;
}

ValueId scaled_conv(Formula& f, ValueId) {
  GraphMaker& m = f.maker();
  Random& r = f.random();
  const DType dtype = m.some_dtype({DType::float32, DType::float16});
  const int64_t channels = r.in(1, 4), filters = r.in(1, 6), side = r.in(3, 8);
  const ValueId x = m.exactly(dtype, {m.some_dims(1, 1)[0], channels, side, side});
  const ValueId w = m.leaf(dtype, {filters, channels, r.in(1, 3), r.in(1, 3)}, true);
  ValueId y = f.op("Conv", {x, w});
  if (y == kNone) return kNone;
  const auto channel = [&] { return m.leaf(dtype, {filters, 1, 1}, r.chance(80)); };
  if (r.chance(60)) {
    const auto row = [&] { return m.leaf(dtype, {filters}, r.chance(90)); };
    y = f.op("BatchNormalization", {y, row(), row(), row(), m.constant(splat(dtype, {filters}, 0.7))});
  } else {
    y = f.both("Add", f.both("Mul", y, channel()), channel());
  }
  if (r.chance(40) && y != kNone) y = f.both("Add", y, m.exactly(dtype, m.type(y).dims));
  return r.chance(60) ? f.op("Relu", {y}) : y;
}

// Things that simplify to what they started from, or nearly.
ValueId there_and_back(Formula& f, ValueId x) {
  GraphMaker& m = f.maker();
  Random& r = f.random();
  if (x == kNone) return kNone;
  const DType dtype = m.type(x).dtype;
  switch (r.in(0, 7)) {
    case 0:
      return f.op("Neg", {f.op("Neg", {x})});
    case 1:
      return f.both("Mul", x, f.n(x, r.chance(50) ? 1 : 0));
    case 2:
      return f.both("Add", x, f.n(x, r.chance(50) ? 0.0 : -0.0));
    case 3:
      return f.op("Transpose", {f.op("Transpose", {x})});
    case 4: {
      const DType other = m.some_dtype(
          {DType::float64, DType::float32, DType::float16, DType::int32, DType::int64, DType::uint8});
      return f.op("Cast", {f.op("Cast", {x}, {{"to", other}})}, {{"to", dtype}});
    }
    case 5:
      return f.op("Sub", {x, x});
    case 6:
      return f.op("Div", {x, f.n(x, r.chance(50) ? 1 : 2)});
    default:
      if (m.rank(x) < 1) return kNone;
      return f.op("Concat",
                  {f.op("Slice", {x, m.ints({0}), m.ints({1}), m.ints({0})}),
                   f.op("Slice", {x, m.ints({1}), m.ints({INT64_MAX}), m.ints({0})})},
                  {{"axis", int64_t{0}}});
  }
}

// Many cheap nodes in a row, half of them in a wider type.
ValueId chain(Formula& f, ValueId x) {
  static const std::vector<const char*> kUnary{"Tanh", "Abs",      "Neg",   "Sigmoid",
                                               "Relu", "Softsign", "Floor", "Erf"};
  static const std::vector<const char*> kBinary{"Add", "Sub", "Mul", "Max", "Min"};
  ValueId y = x;
  for (int64_t i = f.random().in(8, 30); i > 0 && y != kNone; --i) {
    y = f.maybe(60) ? f.op(f.random().pick(kUnary), {y})
                    : f.both(f.random().pick(kBinary), y, f.maybe() ? x : f.maker().partner(y, true));
  }
  return y;
}

}  // namespace

bool add_pattern(GraphMaker& m) {
  using Pattern = ValueId (*)(Formula&, ValueId);
  static const std::vector<Pattern> kPatterns{
      gelu_erf,       gelu_tanh,   layer_norm,     rms_norm,       softmax, silu,
      hard_swish,     attention,   rotary,         dense,          dense,   deep_product,
      three_products, scaled_conv, there_and_back, there_and_back, chain};
  const Pattern pattern = m.random().pick(kPatterns);
  const bool real = m.random().chance(95);
  const DTypeSet floats{DType::float32, DType::float16, DType::bfloat16, DType::float64};
  return m.attempt([&] {
    Formula f(m);
    const ValueId x = m.any(real ? floats : DTypeSet{DType::int32, DType::int64}, 1, 4);
    return pattern(f, x) != kNone;
  });
}

}  // namespace ge::test
