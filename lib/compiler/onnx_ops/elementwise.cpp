// Operators that are one scalar op, or a short formula of them: arithmetic, comparison, logic, bits, Where,
// Clip.
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// One scalar op on broadcast operands: the row names it.
Results lower_map(OpContext& c) {
  const Op core = c.op().row->core;
  if (c.input_count() == 1) return c.build().map(core, {c.in(0)});
  return c.build().map(core, {c.in(0), c.in(1)});
}

// in0 op in1 op in2 ..., from the left.
Results lower_variadic(OpContext& c) {
  ValueId result = c.in(0);
  for (size_t i = 1; i < c.input_count(); ++i) result = c.build().map(c.op().row->core, {result, c.in(i)});
  return result;
}

// The sum is taken in float32 for 16-bit floats: it may pass their range.
Results lower_mean(OpContext& c) {
  Builder& b = c.build();
  ValueId sum = c.wide(c.in(0));
  for (size_t i = 1; i < c.input_count(); ++i) sum = b.map(Op::add, {sum, c.wide(c.in(i))});
  const ValueId mean = b.map(Op::div, {sum, c.scalar_like(sum, static_cast<double>(c.input_count()))});
  return b.cast(mean, c.dtype(c.in(0)));
}

Results lower_mod(OpContext& c) {
  const bool fmod = c.int_attr("fmod") != 0;
  if (!fmod && is_float(c.dtype(c.in(0)))) {
    return c.fail(c.about_attr("fmod", Code::bad_attribute, "floating point inputs need fmod = 1")
                      .because("the inputs are " + std::string(name_of(c.dtype(c.in(0)))))
                      .try_("add \"fmod\": 1"));
  }
  return c.build().map(fmod ? Op::fmod : Op::mod, {c.in(0), c.in(1)});
}

// X's dtype wins. An integer to a fractional power is taken in float64, which holds every int32 and its
// powers' leading digits.
Results lower_pow(OpContext& c) {
  Builder& b = c.build();
  const DType result = c.dtype(c.in(0)), exponent = c.dtype(c.in(1));
  const DType common = is_integer(result) && is_float(exponent) ? DType::float64 : result;
  return b.cast(b.map(Op::pow, {b.cast(c.in(0), common), b.cast(c.in(1), common)}), result);
}

Results lower_is_inf(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const bool negative = c.int_attr("detect_negative") != 0, positive = c.int_attr("detect_positive") != 0;
  const ValueId infinite = b.map(Op::is_inf, {x});
  if (negative && positive) return infinite;
  if (!negative && !positive) return b.map(Op::logical_and, {infinite, b.scalar(DType::boolean, 0)});
  return b.map(Op::logical_and,
               {infinite, b.map(negative ? Op::less : Op::greater, {x, c.scalar_like(x, 0)})});
}

// Core shifts by the width or more give 0. Signed numbers shifted so far to the right are their sign alone,
// and by less than 0 is as far.
Results lower_bit_shift(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  ValueId y = c.in(1);
  const bool left = c.string_attr("direction") == "LEFT";
  if (class_of(c.dtype(x)) == DTypeClass::kSigned) {
    const ValueId farthest = c.scalar_like(y, bits_of(c.dtype(x)) - 1);
    const ValueId below = b.map(Op::less, {y, c.scalar_like(y, 0)});
    const ValueId beyond = b.map(Op::logical_or, {below, b.map(Op::greater, {y, farthest})});
    y = b.map(Op::select, {beyond, left ? c.scalar_like(y, bits_of(c.dtype(x))) : farthest, y});
  }
  return b.map(left ? Op::shift_left : Op::shift_right, {x, y});
}

Results lower_where(OpContext& c) {
  return c.build().map(Op::select, {c.in(0), c.in(1), c.in(2)});
}

namespace {
// A limit of Clip as a scalar: rank 0, or one element.
ValueId clip_limit(OpContext& c, size_t input) {
  const ValueId limit = c.in(input);
  if (c.rank(limit) == 0) return limit;
  if (c.rank(limit) == 1 && c.dims(limit)[0].is_value(1)) return c.build().reshape(limit, {});
  return c.fail(
      c.about_input(input, Code::operand_rank, "'" + c.op().input_name(input) + "' must be a scalar")
          .because("found " + c.describe(limit)));
}
}  // namespace

// Where min > max every element becomes max: clamp is min(max(a, b), c).
Results lower_clip(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  if (c.has(1) && c.has(2)) return b.map(Op::clamp, {x, clip_limit(c, 1), clip_limit(c, 2)});
  if (c.has(1)) return b.map(Op::max, {x, clip_limit(c, 1)});
  if (c.has(2)) return b.map(Op::min, {x, clip_limit(c, 2)});
  return x;
}

}  // namespace ge
