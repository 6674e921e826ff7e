// CenterCropPad: the middle of an axis, or the axis in the middle of zeros.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// `count` zeros along `axis` beside x; kNone where there are none.
ValueId zeros_beside(OpContext& c, ValueId x, int64_t axis, const Dim& count) {
  if (c.failed() || count.is_value(0)) return kNone;
  Dims shape = c.dims(x);
  shape[static_cast<size_t>(axis)] = count;
  return c.build().broadcast(c.scalar_like(x, 0), shape);
}

// What is cut is rounded down at the front, and so is what is added.
ValueId centred(OpContext& c, ValueId x, int64_t axis, const Dim& wanted) {
  if (c.failed() || c.dims(x)[axis] == wanted) return x;
  const Dim size = c.dims(x)[axis], kept = Dim::min(size, wanted), two(2);
  x = c.slice_axis(x, axis, Dim::floor_div(size - kept, two), kept);
  const Dim before = Dim::floor_div(wanted - kept, two), after = wanted - kept - before;
  std::vector<ValueId> parts;
  for (const ValueId part : {zeros_beside(c, x, axis, before), x, zeros_beside(c, x, axis, after)})
    if (part != kNone) parts.push_back(part);
  return c.concat(std::move(parts), axis);
}

}  // namespace

Results lower_center_crop_pad(OpContext& c) {
  const ValueId x = c.in(0);
  std::vector<int64_t> axes = c.ints_attr("axes");
  if (!c.has_attr("axes"))
    for (int64_t i = 0; i < c.rank(x); ++i) axes.push_back(i);
  c.normalized_axes(axes, c.rank(x), x, c.pointer("/attributes/axes"));
  const auto sizes = c.failed() ? std::nullopt : c.contents(1);
  if (!sizes) return kNone;
  if (sizes->size() != axes.size()) {
    return c.fail(
        c.about_input(1, Code::shape_mismatch, "'shape' must have one number for each axis")
            .because("found " + to_string(*sizes) + " for " + std::to_string(axes.size()) + " axes"));
  }
  ValueId y = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& wanted = (*sizes)[i];
    if (wanted.is_static() && *wanted.value() < 0)
      return c.fail(
          c.about_input(1, Code::bad_dim, "a size is negative").because("found " + to_string(*sizes)));
    y = centred(c, y, axes[i] < 0 ? axes[i] + c.rank(x) : axes[i], wanted);
  }
  return y;
}

}  // namespace ge
