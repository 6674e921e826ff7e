// CumProd: running products along an axis by doubling: after step s each element is the product of the 2^s up
// to it.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// x moved by `count` along the axis, away from its start (towards it where reverse), ones behind it.
ValueId shifted(OpContext& c, ValueId x, int64_t axis, int64_t count, bool reverse) {
  if (c.failed()) return kNone;
  const Dim size = c.dims(x)[axis], kept = size - Dim(count);
  Dims filled = c.dims(x);
  filled[axis] = Dim(count);
  const ValueId ones = c.build().broadcast(c.scalar_like(x, 1), filled);
  const ValueId rest = c.slice_axis(x, axis, reverse ? Dim(count) : Dim(0), kept);
  return c.concat(reverse ? std::vector<ValueId>{rest, ones} : std::vector<ValueId>{ones, rest}, axis);
}

}  // namespace

Results lower_cum_prod(OpContext& c) {
  const ValueId x = c.in(0);
  const auto axis = c.axis_input(1, x);
  if (!axis) return kNone;
  const auto size = c.dims(x)[*axis].value();
  if (!size) {
    return c.fail(
        c.about_input(0, Code::needs_constant, "the axis of a running product must have a known size")
            .because("axis " + std::to_string(*axis) + " of " + c.describe(x))
            .try_("pin the dim with --dim NAME=N"));
  }
  if (*size == 0) return x;
  const bool reverse = c.int_attr("reverse") != 0;
  ValueId y = c.wide(x);
  if (c.int_attr("exclusive") != 0) y = shifted(c, y, *axis, 1, reverse);
  for (int64_t count = 1; count < *size; count *= 2)
    y = c.build().map(Op::mul, {y, shifted(c, y, *axis, count, reverse)});
  return c.failed() ? kNone : c.build().cast(y, c.dtype(x));
}

}  // namespace ge
