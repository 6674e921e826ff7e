// OneHot and EyeLike: positions compared with numbers along an axis.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// OneHot's depth: a size where it is an integer, else the whole number it is.
std::optional<Dim> depth_of(OpContext& c) {
  std::optional<Dim> depth;
  if (is_integer(c.dtype(c.in(1)))) {
    const auto values = c.contents(1);
    if (!values) return std::nullopt;
    if (values->size() == 1) depth = values->front();
  } else if (const auto number = c.number(1)) {
    depth = Dim(static_cast<int64_t>(*number >= 0 ? std::min(*number, 9e15) : -1));  // NaN is no depth
  } else {
    return std::nullopt;
  }
  if (depth && depth->value().value_or(0) >= 0) return depth;
  c.fail(c.about_input(1, Code::bad_attribute, "'depth' must be one number that is not negative")
             .because("found " + (depth ? depth->to_string() : c.describe(c.in(1)))));
  return std::nullopt;
}

}  // namespace

// values[1] where the number along the axis is the index, else values[0]; a negative index counts from depth
// (from opset 11 on), one out of range is nowhere.
Results lower_one_hot(OpContext& c) {
  Builder& b = c.build();
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)) + 1, c.in(0));
  const auto depth = c.failed() ? std::nullopt : depth_of(c);
  if (!depth) return kNone;
  if (c.rank(c.in(2)) != 1 || Dim::never_equal(c.dims(c.in(2))[0], 2)) {
    return c.fail(c.about_input(2, Code::shape_mismatch, "'values' must hold two: off and on")
                      .because("found " + c.describe(c.in(2))));
  }
  c.require_equal(c.dims(c.in(2))[0], 2, "'values' must hold two: off and on");
  Dims shape = c.dims(c.in(0)), unit = shape;
  shape.insert(shape.begin() + axis, *depth);
  unit.insert(unit.begin() + axis, Dim(1));
  const ValueId index = b.reshape(b.cast(c.in(0), DType::int64), unit);
  const ValueId zero = b.scalar(DType::int64, 0), size = c.size_scalar(*depth);
  const ValueId wanted =
      c.version() < 11
          ? index
          : b.map(Op::select, {b.map(Op::less, {index, zero}), b.map(Op::add, {index, size}), index});
  const ValueId hit = b.map(Op::equal, {c.positions(shape, axis), wanted});
  const ValueId off = b.reshape(c.slice_axis(c.in(2), 0, 0, 1), {});
  const ValueId on = b.reshape(c.slice_axis(c.in(2), 0, 1, 1), {});
  return b.map(Op::select, {hit, on, off});
}

// 1 where column = row + k.
Results lower_eye_like(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  if (c.rank(x) != 2) {
    return c.fail(
        c.about_input(0, Code::operand_rank, "'input' must be a matrix").because("found " + c.describe(x)));
  }
  const DType to = c.asked_dtype("dtype").value_or(c.dtype(x));
  const ValueId diagonal = b.map(Op::add, {c.positions(c.dims(x), 0), c.size_scalar(Dim(c.int_attr("k")))});
  return b.cast(b.map(Op::equal, {c.positions(c.dims(x), 1), diagonal}), to);
}

}  // namespace ge
