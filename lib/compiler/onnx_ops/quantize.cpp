// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear and QLinearMatMul in terms of maps, casts and dot.
// Scales and zero points hold one value for the tensor, one an element of an axis, or one a block of an axis.
#include <algorithm>
#include <limits>

#include "compiler/onnx_ops/conversion.h"

namespace ge {
namespace {

constexpr DTypeSet kQuantized = {DType::int8,  DType::uint8, DType::int16,        DType::uint16,
                                 DType::uint4, DType::int4,  DType::float8e4m3fn, DType::float8e5m2};

struct Range {
  double low, high;
};
Range range_of(DType dtype) {
  const double values = static_cast<double>(int64_t{1} << bits_of(dtype));
  return class_of(dtype) == DTypeClass::kSigned ? Range{-values / 2, values / 2 - 1} : Range{0, values - 1};
}

// -- scales and zero points beside x --

// How parameters (scale, zero point) lie beside x, and x itself as they need it.
class Layout {
 public:
  // `scale` is input 1, whose shape decides.
  Layout(OpContext& c, ValueId x) : c_(c), b_(c.build()), x_(x) {
    const ValueId scale = c.in(1);
    block_ = c.op().attribute("block_size") ? c.int_attr("block_size") : 0;
    if (product(c.dims(scale)).is_value(1) && block_ == 0) return;
    if (!c.op().attribute("axis")) {
      c.fail(c.about_input(1, Code::operand_rank, "before opset 13 the scale is one number")
                 .because("found " + c.describe(scale)));
      return;
    }
    axis_ = c.axis_attr("axis", c.rank(x), x);
    if (c.failed()) return;
    if (block_ != 0)
      check_blocks(scale);
    else
      check_axis(scale);
  }

  // x, split into blocks where they are whole.
  ValueId split(ValueId x) { return whole_blocks() ? b_.reshape(x, split_shape()) : x; }
  ValueId joined(ValueId y) { return whole_blocks() ? b_.reshape(y, c_.dims(x_)) : y; }
  // A parameter of the scale's shape, such that it broadcasts to split(x).
  ValueId beside(ValueId p) {
    if (c_.failed()) return kNone;
    if (axis_ < 0) return b_.reshape(p, {});
    if (block_ == 0) {
      Dims shape(c_.dims(x_).size(), Dim(1));
      shape[at()] = c_.dims(x_)[at()];
      return b_.reshape(p, shape);
    }
    if (!whole_blocks()) return repeated(p);
    Dims shape = c_.dims(p);
    shape.insert(shape.begin() + axis_ + 1, Dim(1));
    return b_.reshape(p, shape);
  }

 private:
  size_t at() const { return static_cast<size_t>(axis_); }
  const Dim& extent() const { return c_.dims(x_)[at()]; }
  bool whole_blocks() const { return block_ > 0 && axis_ >= 0 && extent().divisible_by(block_); }

  void check_axis(ValueId scale) {
    const Dims& dims = c_.dims(scale);
    if (dims.size() != 1) {
      c_.fail(c_.about_input(1, Code::operand_rank, "the scale must be one number or a vector")
                  .because("found " + c_.describe(scale))
                  .try_(c_.op().attribute("block_size") ? "set \"block_size\" for a scale a block" : ""));
      return;
    }
    c_.require_equal(dims[0], extent(), "the scale does not have one value for each element of the axis");
  }

  void check_blocks(ValueId scale) {
    if (block_ < 0) {
      c_.fail(c_.about_attr("block_size", Code::bad_attribute, "block_size must not be negative")
                  .because("found " + std::to_string(block_)));
      return;
    }
    if (c_.rank(scale) != c_.rank(x_)) {
      c_.fail(c_.about_input(1, Code::operand_rank, "with block_size the scale has the input's rank")
                  .because("found " + c_.describe(scale) + " beside " + c_.describe(x_)));
      return;
    }
    for (size_t i = 0; i < c_.dims(x_).size(); ++i) {
      const Dim& wanted = c_.dims(x_)[i];
      c_.require_equal(c_.dims(scale)[i], i == at() ? Dim::ceil_div(wanted, Dim(block_)) : wanted,
                       "dim " + std::to_string(i) + " of the scale does not fit the blocks");
    }
  }

  Dims split_shape() const {
    Dims shape = c_.dims(x_);
    const auto blocks = Dim::exact_quotient(extent(), Dim(block_));
    shape[at()] = blocks ? *blocks : Dim::floor_div(extent(), Dim(block_));
    shape.insert(shape.begin() + axis_ + 1, Dim(block_));
    return shape;
  }

  // One value an element of the axis, looked up by the number of its block.
  ValueId repeated(ValueId p) {
    const ValueId number = b_.map(Op::div, {c_.positions({extent()}, 0), c_.size_scalar(Dim(block_))});
    if (c_.failed()) return kNone;
    return b_.op(Op::gather, {p, number}, {{"axis", axis_}});
  }

  OpContext& c_;
  Builder& b_;
  ValueId x_;
  int64_t axis_ = -1;  // -1: one value for all
  int64_t block_ = 0;
};

void check_zero_point(OpContext& c, size_t scale, size_t zero_point) {
  if (!c.has(zero_point) || c.failed()) return;
  const Dims &s = c.dims(c.in(scale)), &z = c.dims(c.in(zero_point));
  if (product(s).is_value(1) && product(z).is_value(1)) return;
  if (s.size() != z.size()) {
    c.fail(c.about_input(zero_point, Code::shape_mismatch, "the zero point has another shape than the scale")
               .because(c.describe(c.in(scale)) + " and " + c.describe(c.in(zero_point))));
    return;
  }
  for (size_t i = 0; i < s.size(); ++i)
    c.require_equal(z[i], s[i], "the zero point has another shape than the scale");
}

DType wide_float(DType dtype) {
  return dtype == DType::float64 ? dtype : DType::float32;
}

// The type of QuantizeLinear's result: the zero point's, else output_dtype, else uint8.
std::optional<DType> quantized_type(OpContext& c) {
  const auto asked = c.asked_dtype("output_dtype");
  const DType to = c.has(2) ? c.dtype(c.in(2)) : asked.value_or(DType::uint8);
  if (asked && to != *asked) {
    c.fail(
        c.about_attr("output_dtype", Code::dtype_mismatch, "output_dtype is not the zero point's dtype")
            .because("found " + std::string(name_of(*asked)) + "; the zero point is " + c.describe(c.in(2))));
    return std::nullopt;
  }
  if (kQuantized.contains(to)) return to;
  c.fail(c.about_attr("output_dtype", Code::operand_dtype, "output_dtype is no quantized dtype")
             .because("found " + std::string(name_of(to)) + "; allowed: " + to_string(kQuantized)));
  return std::nullopt;
}

}  // namespace

ValueId quantize_rounded(OpContext& c, ValueId quotient, ValueId zero_point, DType to) {
  Builder& b = c.build();
  ValueId rounded = b.map(Op::round, {quotient});
  if (zero_point != kNone) rounded = b.map(Op::add, {rounded, b.cast(zero_point, c.dtype(quotient))});
  const Range range = range_of(to);
  const ValueId limited =
      b.map(Op::clamp, {rounded, c.scalar_like(rounded, range.low), c.scalar_like(rounded, range.high)});
  return b.cast(b.cast(limited, unpacked(to)), to);
}

// The quotient is rounded to the type it is taken in before it is rounded to a whole number.
Results lower_quantize_linear(OpContext& c) {
  Builder& b = c.build();
  const auto to = quantized_type(c);
  Layout layout(c, c.in(0));
  check_zero_point(c, 1, 2);
  if (c.failed()) return kNone;
  const DType scale_type = c.dtype(c.in(1));
  DType precision = is_float(scale_type) ? scale_type : DType::float32;
  if (const auto asked = c.asked_dtype("precision")) precision = *asked;
  const DType wide = wide_float(precision);
  const auto in_precision = [&](ValueId v) { return b.cast(b.cast(v, precision), wide); };
  ValueId quotient =
      b.map(Op::div, {in_precision(layout.split(c.in(0))), in_precision(layout.beside(c.in(1)))});
  quotient = in_precision(quotient);
  if (is_float(*to)) {
    const bool saturates = c.int_attr("saturate") != 0;
    return layout.joined(convert_saturating(c, quotient, *to, saturates));
  }
  const ValueId zero_point = c.has(2) ? layout.beside(c.convert(c.in(2), wide)) : kNone;
  return layout.joined(quantize_rounded(c, quotient, zero_point, *to));
}

Results lower_dequantize_linear(OpContext& c) {
  Builder& b = c.build();
  Layout layout(c, c.in(0));
  check_zero_point(c, 1, 2);
  if (c.failed()) return kNone;
  const bool real = is_float(c.dtype(c.in(0)));
  const DType between = real ? DType::float32 : DType::int32;
  ValueId value = c.convert(layout.split(c.in(0)), between);
  if (c.has(2) && !real) value = b.map(Op::sub, {value, layout.beside(c.convert(c.in(2), between))});
  const ValueId scale = b.cast(layout.beside(c.in(1)), DType::float32);
  const ValueId y = b.map(Op::mul, {b.cast(value, DType::float32), scale});
  const auto asked = c.asked_dtype("output_dtype");
  return layout.joined(b.cast(y, asked ? *asked : c.dtype(c.in(1))));
}

// To uint8, such that zero has a number of its own.
Results lower_dynamic_quantize_linear(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < c.rank(x); ++i) axes.push_back(i);
  const ValueId zero = c.scalar_like(x, 0), levels = c.scalar_like(x, 255);
  const ValueId high = b.map(Op::max, {b.reduce(x, "max", axes, false), zero});
  const ValueId low = b.map(Op::min, {b.reduce(x, "min", axes, false), zero});
  const ValueId span = b.map(Op::sub, {high, low});
  const ValueId scale = b.map(
      Op::select, {b.map(Op::equal, {span, zero}), c.scalar_like(x, 1), b.map(Op::div, {span, levels})});
  const ValueId start = b.map(Op::clamp, {b.map(Op::div, {b.map(Op::neg, {low}), scale}), zero, levels});
  const ValueId zero_point = b.cast(b.map(Op::round, {start}), DType::uint8);
  const ValueId y = quantize_rounded(c, b.map(Op::div, {x, scale}), zero_point, DType::uint8);
  return std::vector<ValueId>{y, scale, zero_point};
}

namespace {

// A parameter of a matrix's rows ([M] or [..., M, 1]) or columns ([N] or [..., 1, N]), or of all of it.
ValueId beside_matrix(OpContext& c, size_t input, bool rows) {
  const Dims& dims = c.dims(c.in(input));
  if (product(dims).is_value(1)) return c.build().reshape(c.in(input), {});
  return rows && dims.size() == 1 ? c.build().reshape(c.in(input), {dims[0], Dim(1)}) : c.in(input);
}

// int32 values with their zero point taken off.
ValueId centred(OpContext& c, size_t input, size_t zero_point, bool rows) {
  Builder& b = c.build();
  const ValueId x = b.cast(c.in(input), DType::int32);
  if (!c.has(zero_point) || c.failed()) return x;
  const ValueId z = b.cast(beside_matrix(c, zero_point, rows), DType::int32);
  return b.map(Op::sub, {x, b.broadcast(z, c.dims(x))});
}

}  // namespace

// Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
Results lower_q_linear_mat_mul(OpContext& c) {
  Builder& b = c.build();
  const DType to = c.dtype(c.in(7));
  const auto scale = [&](size_t input, bool rows) {
    return b.cast(beside_matrix(c, input, rows), DType::float32);
  };
  const bool real = is_float(c.dtype(c.in(0)));
  if (real != is_float(c.dtype(c.in(3))) || real != is_float(to)) {
    return c.fail(
        c.about_node(Code::dtype_mismatch, "8-bit floats and integers do not mix")
            .because(c.describe(c.in(0)) + ", " + c.describe(c.in(3)) + " and " + c.describe(c.in(7))));
  }
  const ValueId product =
      real ? matrix_product(c, b.cast(c.in(0), DType::float32), 0, b.cast(c.in(3), DType::float32), 3)
           : b.cast(matrix_product(c, centred(c, 0, 2, true), 0, centred(c, 3, 5, false), 3), DType::float32);
  const ValueId factor = b.map(Op::div, {b.map(Op::mul, {scale(1, true), scale(4, false)}), scale(6, true)});
  const ValueId quotient = b.map(Op::mul, {product, factor});
  if (real) return c.convert(quotient, to);
  return quantize_rounded(c, quotient, beside_matrix(c, 7, true), to);
}

}  // namespace ge
