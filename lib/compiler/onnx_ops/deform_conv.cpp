// DeformConv: a convolution each of whose kernel elements reads where an offset of its own moves it, between
// elements by linear interpolation; outside are zeros. What is read becomes columns, and core dot multiplies
// them with the weights.
#include "compiler/onnx_ops/sampling.h"
#include "compiler/onnx_ops/window.h"

namespace ge {
namespace {

// Inputs X [N, C, spatial...], W [M, C / group, kernel...], offset [N, offset groups * elements * r, out...],
// B [M], mask [N, offset groups * elements, out...].
class DeformConv {
 public:
  explicit DeformConv(OpContext& c) : c_(c), b_(c.build()) {}

  Results run() {
    if (!read_shapes() || !check_operands()) return kNone;
    const ValueId read = sampled();
    if (c_.failed()) return kNone;
    return product_with(masked(read));
  }

 private:
  bool read_shapes() {
    const ValueId x = c_.in(0), w = c_.in(1);
    if (c_.rank(w) != c_.rank(x))
      return c_.refuse(c_.about_input(1, Code::operand_rank, "'X' and 'W' must have one rank"),
                       c_.describe(x) + " and " + c_.describe(w));
    const Dims spatial(c_.dims(w).begin() + std::min<int64_t>(2, c_.rank(w)), c_.dims(w).end());
    const auto kernel = static_values(spatial);
    if (!kernel)
      return c_.refuse(
          c_.about_input(1, Code::needs_constant, "the kernel's size must be known at compile time"),
          "found " + c_.describe(w));
    window_ = read_window_steps(c_, *kernel);
    if (c_.failed()) return false;
    if (window_.kernel != *kernel)
      return c_.refuse(c_.about_attr("kernel_shape", Code::bad_attribute, "kernel_shape is not that of 'W'"),
                       "'W' is " + c_.describe(w));
    groups_ = c_.int_attr("group"), offset_groups_ = c_.int_attr("offset_group");
    for (const char* name : {"group", "offset_group"})
      if (c_.int_attr(name) < 1 || !OpContext::split(c_.dims(x)[1], c_.int_attr(name)))
        return c_.refuse(
            c_.about_attr(name, Code::bad_attribute, std::string(name) + " does not divide the channels"),
            "found " + std::to_string(c_.int_attr(name)) + " for " + c_.describe(x));
    rank_ = window_.kernel.size();
    for (size_t i = 0; i < rank_; ++i) {
      elements_ *= window_.kernel[i];
      const Dim room = c_.dims(x)[i + 2] + Dim(window_.pads_begin[i]) + Dim(window_.pads_end[i]) -
                       Dim(window_.dilations[i]) * Dim(window_.kernel[i] - 1) - Dim(1);
      out_.push_back(Dim::floor_div(room, Dim(window_.strides[i])) + Dim(1));
    }
    return true;
  }

  bool check_operands() {
    const Dims &x = c_.dims(c_.in(0)), &w = c_.dims(c_.in(1));
    c_.require_equal(w[1] * Dim(groups_), x[1], "'W' does not fit the channels of 'X'");
    if (!OpContext::split(w[0], groups_))
      return c_.refuse(
          c_.about_attr("group", Code::bad_attribute, "group does not divide the output channels"),
          "found " + std::to_string(groups_) + " for " + c_.describe(c_.in(1)));
    const auto per_point = [&](size_t input, int64_t count) {
      const ValueId v = c_.in(input);
      if (c_.rank(v) != static_cast<int64_t>(rank_) + 2)
        return c_.refuse(c_.about_input(input, Code::operand_rank,
                                        "'" + c_.op().input_name(input) + "' must have the rank of 'X'"),
                         "found " + c_.describe(v));
      const std::string message =
          "'" + c_.op().input_name(input) + "' does not fit the kernel and the output";
      c_.require_equal(c_.dims(v)[0], x[0], message);
      c_.require_equal(c_.dims(v)[1], Dim(count), message);
      for (size_t i = 0; i < rank_; ++i) c_.require_equal(c_.dims(v)[i + 2], out_[i], message);
      return !c_.failed();
    };
    if (!per_point(2, offset_groups_ * elements_ * static_cast<int64_t>(rank_))) return false;
    if (c_.has(4) && !per_point(4, offset_groups_ * elements_)) return false;
    if (c_.has(3) && (c_.rank(c_.in(3)) != 1 || Dim::never_equal(c_.dims(c_.in(3))[0], w[0])))
      return c_.refuse(
          c_.about_input(3, Code::shape_mismatch, "'B' does not have one value per output channel"),
          "found " + c_.describe(c_.in(3)));
    return true;
  }

  // Where element k of axis i reads at each output, without its offset: [1, elements, points].
  ValueId regular_place(size_t i, DType type) {
    Dims grid(window_.kernel.begin(), window_.kernel.end());
    grid.insert(grid.end(), out_.begin(), out_.end());
    Dims of_kernel(grid.size(), Dim(1)), of_output = of_kernel;
    of_kernel[i] = grid[i], of_output[rank_ + i] = out_[i];
    const auto times = [&](ValueId v, int64_t by) { return b_.map(Op::mul, {v, c_.size_scalar(Dim(by))}); };
    const ValueId step = times(c_.positions(of_kernel, static_cast<int64_t>(i)), window_.dilations[i]);
    const ValueId start = times(c_.positions(of_output, static_cast<int64_t>(rank_ + i)), window_.strides[i]);
    const ValueId place =
        b_.map(Op::sub, {b_.map(Op::add, {step, start}), c_.size_scalar(Dim(window_.pads_begin[i]))});
    return b_.reshape(b_.broadcast(b_.cast(place, type), grid), {1, Dim(elements_), product(out_)});
  }

  // [N * offset groups, channels of one, elements * points]
  ValueId sampled() {
    const Dims dims = c_.dims(c_.in(0));
    const Dim batch = dims[0] * Dim(offset_groups_), points = product(out_);
    Dims split{batch, *OpContext::split(dims[1], offset_groups_)};
    split.insert(split.end(), dims.begin() + 2, dims.end());
    const ValueId x = b_.reshape(c_.wide(c_.in(0)), split);
    const ValueId offset =
        b_.reshape(c_.wide(c_.in(2)), {batch, Dim(elements_), Dim(static_cast<int64_t>(rank_)), points});
    std::vector<std::vector<Tap>> taps;
    for (size_t i = 0; i < rank_ && !c_.failed(); ++i) {
      const ValueId moved = b_.reshape(c_.slice_axis(offset, 2, Dim(static_cast<int64_t>(i)), Dim(1)),
                                       {batch, Dim(elements_), points});
      const ValueId place = b_.map(Op::add, {moved, regular_place(i, c_.dtype(moved))});
      taps.push_back(linear_taps(c_, b_.reshape(place, {batch, Dim(elements_) * points}), {dims[i + 2]}));
    }
    return sample_points(c_, x, taps);
  }

  ValueId masked(ValueId read) {
    if (!c_.has(4)) return read;
    const Dims dims = c_.dims(read);
    return b_.map(Op::mul, {read, b_.reshape(c_.wide(c_.in(4)), {dims[0], 1, dims[2]})});
  }

  // [N, groups, M / groups, C / groups * elements] x [N, groups, C / groups * elements, points]
  ValueId product_with(ValueId columns) {
    const Dims x = c_.dims(c_.in(0)), w = c_.dims(c_.in(1));
    const Dim depth = w[1] * Dim(elements_), rows = *OpContext::split(w[0], groups_), points = product(out_);
    const ValueId right = b_.reshape(columns, {x[0], Dim(groups_), depth, points});
    const ValueId left = b_.broadcast(b_.reshape(c_.wide(c_.in(1)), {1, Dim(groups_), rows, depth}),
                                      {x[0], Dim(groups_), rows, depth});
    if (c_.failed()) return kNone;
    ValueId y = b_.reshape(b_.op(Op::dot, {left, right}), {x[0], w[0], points});
    if (c_.has(3)) y = b_.map(Op::add, {y, b_.reshape(c_.wide(c_.in(3)), {1, w[0], 1})});
    Dims shape{x[0], w[0]};
    shape.insert(shape.end(), out_.begin(), out_.end());
    return c_.failed() ? kNone : b_.cast(b_.reshape(y, shape), c_.dtype(c_.in(0)));
  }

  OpContext& c_;
  Builder& b_;
  Window window_;
  size_t rank_ = 0;
  int64_t groups_ = 1, offset_groups_ = 1, elements_ = 1;  // elements of a kernel
  Dims out_;
};

}  // namespace

Results lower_deform_conv(OpContext& c) {
  return DeformConv(c).run();
}

}  // namespace ge
