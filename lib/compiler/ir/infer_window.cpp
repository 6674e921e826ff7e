// Type rules of ops that slide a window: conv and pool. x is [N, C, spatial...].
#include "compiler/ir/channels_last.h"
#include "compiler/ir/inference.h"

namespace ge {

Status Inference::check_window(const std::vector<int64_t>& kernel, size_t spatial) {
  const auto check = [&](const std::string& name, const std::vector<int64_t>& values,
                         int64_t least) -> Status {
    if (values.size() != spatial) {
      return fault(Code::bad_attribute, name + " is " + ints_text(values) + "; " + std::to_string(spatial) +
                                            " values are needed, one per spatial axis of " + operand_text(0));
    }
    for (const int64_t v : values) {
      if (v < least)
        return fault(Code::bad_attribute,
                     name + " is " + ints_text(values) + "; values are at least " + std::to_string(least));
      if (v > INT32_MAX)
        return fault(Code::bad_attribute, name + " is " + ints_text(values) + "; values are below 2^31");
    }
    return {};
  };
  GE_TRY(check("kernel", kernel, 1));
  GE_TRY(check("strides", ints("strides"), 1));
  GE_TRY(check("dilations", ints("dilations"), 1));
  GE_TRY(check("pads_begin", ints("pads_begin"), 0));
  return check("pads_end", ints("pads_end"), 0);
}

// floor((in + pads - reach) / stride) + 1, where reach is the dilated kernel; ceil_mode rounds up but lets no
// window start past the input and its left padding.
Result<Dim> Inference::window_extent(const Dim& in, size_t axis, int64_t kernel, bool ceil_mode) {
  const int64_t stride = ints("strides")[axis], begin = ints("pads_begin")[axis],
                end = ints("pads_end")[axis];
  const int64_t reach = ints("dilations")[axis] * (kernel - 1) + 1;
  const Dim room = in + begin + end - reach;
  if (room.is_static() && *room.value() < 0 && !in.is_value(0)) {
    return fault(Code::shape_mismatch, "spatial axis " + std::to_string(axis) + ": a window of " +
                                           std::to_string(reach) + " does not fit in " + in.to_string() +
                                           " with pads " + std::to_string(begin) + " and " +
                                           std::to_string(end));
  }
  if (!ceil_mode) return Dim::floor_div(room, stride) + 1;
  return Dim::min(Dim::ceil_div(room, stride) + 1, Dim::ceil_div(in + begin, stride));
}

Result<Type> Inference::conv() {
  GE_TRY(floats_only(0));
  GE_TRY(same_dtype(0, 1));
  GE_TRY(rank_is(0, 3, SIZE_MAX));
  GE_TRY(rank_is(1, in(0).dims.size(), in(0).dims.size()));
  const bool last = integer("channels_last") != 0;
  const Dims x = last ? channels_second_order(in(0).dims) : in(0).dims,
             w = last ? channels_second_order(in(1).dims) : in(1).dims;
  const size_t spatial = x.size() - 2;
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < spatial; ++i) {
    if (!w[2 + i].is_static())
      return fault(Code::needs_constant,
                   "the kernel's shape is " + to_string(w) + "; its spatial dims must be known");
    kernel.push_back(*w[2 + i].value());
  }
  GE_TRY(check_window(kernel, spatial));
  const int64_t groups = integer("groups", 1);
  if (groups < 1 || !w[0].divisible_by(groups)) {
    return fault(Code::bad_attribute, "groups is " + std::to_string(groups) + "; it must divide the " +
                                          w[0].to_string() + " output channels");
  }
  GE_TRY(equal(x[1], w[1] * groups,
               "channels of " + operand_text(0) + " and of " + std::to_string(groups) + " groups of " +
                   operand_text(1)));
  Type result{in(0).dtype, {x[0], w[0]}};
  for (size_t i = 0; i < spatial; ++i) {
    GE_ASSIGN(Dim extent, window_extent(x[2 + i], i, kernel[i], false));
    result.dims.push_back(std::move(extent));
  }
  if (has(2)) {
    GE_TRY(same_dtype(0, 2));
    GE_TRY(equal_dims(in(2).dims, {w[0]}, "bias and output channels"));
  }
  if (last) result.dims = channels_last_order(std::move(result.dims));
  return result;
}

Result<Type> Inference::pool() {
  GE_TRY(numbers_only(0));
  GE_TRY(rank_is(0, 3, SIZE_MAX));
  const bool last = integer("channels_last") != 0;
  const Dims x = last ? channels_second_order(in(0).dims) : in(0).dims;
  const std::vector<int64_t>& kernel = ints("kernel");
  GE_TRY(check_window(kernel, x.size() - 2));
  Type result{in(0).dtype, {x[0], x[1]}};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    // A window that sees only padding has no maximum and no mean of its own.
    const int64_t reach = ints("dilations")[i] * (kernel[i] - 1) + 1;
    if (ints("pads_begin")[i] >= reach || ints("pads_end")[i] >= reach) {
      return fault(Code::bad_attribute, "pads " + ints_text(ints("pads_begin")) + " and " +
                                            ints_text(ints("pads_end")) +
                                            " must be smaller than the window " + ints_text(kernel));
    }
    GE_ASSIGN(Dim extent, window_extent(x[2 + i], i, kernel[i], integer("ceil_mode") != 0));
    result.dims.push_back(std::move(extent));
  }
  if (last) result.dims = channels_last_order(std::move(result.dims));
  return result;
}

}  // namespace ge
