// ConvTranspose: one core conv that computes all phases of the output, and a transpose that interleaves them.
//
// Along an axis of stride s, output s * q + r is sum_j x[q - j] * w[r + s * j]: for each of the s phases r an
// ordinary convolution of stride 1 with every s-th element of the kernel, flipped. The phases become output
// channels of one conv, so no zeros are inserted and none multiplied but those that fill the kernel up to
// a multiple of s. What the weights go through folds where they are constant.
#include <algorithm>

#include "compiler/onnx_ops/window.h"

namespace ge {
namespace {

// One spatial axis.
struct Axis {
  int64_t kernel = 1, stride = 1, dilation = 1;
  int64_t taps = 1, tap_dilation = 1;    // of the conv: kernel elements of a phase, and their distance
  Dim pad_begin, extent;                 // of the output within s * (positions) full results
  int64_t conv_begin = 0, conv_end = 0;  // the conv's pads
  Dim start;                             // of the output within what the conv gives
  int64_t extra = 0;                     // zeros after what the conv gives
};

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

class ConvTranspose {
 public:
  explicit ConvTranspose(OpContext& c) : c_(c), b_(c.build()) {}

  ValueId run() {
    if (!read_axes() || !check_channels()) return kNone;
    const bool extra = std::any_of(axes_.begin(), axes_.end(), [](const Axis& a) { return a.extra > 0; });
    std::vector<ValueId> operands = {c_.in(0), weights()};
    if (c_.has(2) && !extra) operands.push_back(phase_bias());
    std::vector<int64_t> begin, end, dilations;
    for (const Axis& a : axes_) {
      begin.push_back(a.conv_begin);
      end.push_back(a.conv_end);
      dilations.push_back(a.tap_dilation);
    }
    const ValueId phases = b_.op(Op::conv, std::move(operands),
                                 {{"strides", std::vector<int64_t>(axes_.size(), 1)},
                                  {"pads_begin", begin},
                                  {"pads_end", end},
                                  {"dilations", dilations},
                                  {"groups", groups_}});
    const ValueId y = cut(interleave(phases), extra);
    if (!c_.has(2) || !extra || c_.failed()) return y;
    Dims shape(c_.dims(y).size(), Dim(1));
    shape[1] = c_.dims(c_.in(2))[0];
    return b_.map(Op::add, {y, b_.reshape(c_.in(2), shape)});
  }

 private:
  // ---- attributes
  bool read_axes() {
    const ValueId x = c_.in(0), w = c_.in(1);
    if (c_.rank(w) != c_.rank(x)) {
      c_.fail(c_.about_input(1, Code::operand_rank, "'X' and 'W' must have one rank")
                  .because(c_.describe(x) + " and " + c_.describe(w)));
      return false;
    }
    const auto kernel =
        static_values(Dims(c_.dims(w).begin() + std::min<int64_t>(2, c_.rank(w)), c_.dims(w).end()));
    if (!kernel ||
        std::any_of(kernel->begin(), kernel->end(), [](int64_t k) { return k < 1 || k > INT32_MAX; })) {
      c_.fail(c_.about_input(1, kernel ? Code::shape_mismatch : Code::needs_constant,
                             "the kernel's size must be known at compile time, and 1 or more")
                  .because("found " + c_.describe(w)));
      return false;
    }
    const Window window = read_window_steps(c_, *kernel);
    if (c_.failed()) return false;
    if (window.kernel != *kernel) {
      c_.fail(c_.about_attr("kernel_shape", Code::bad_attribute, "kernel_shape is not that of 'W'")
                  .because("'W' is " + c_.describe(w))
                  .try_("remove \"kernel_shape\""));
      return false;
    }
    const std::vector<int64_t> more = window_list(c_, "output_padding", kernel->size(), 0, 0);
    for (size_t i = 0; i < kernel->size() && !c_.failed(); ++i) {
      Axis a;
      a.kernel = (*kernel)[i];
      a.stride = window.strides[i];
      a.dilation = window.dilations[i];
      set_output(a, i, window, more[i]);
      set_conv(a, i);
      axes_.push_back(a);
    }
    return !c_.failed();
  }

  static int64_t reach(const Axis& a) { return (a.kernel - 1) * a.dilation + 1; }

  // The output's place: explicit pads, or those that the wanted size leaves over.
  void set_output(Axis& a, size_t i, const Window& window, int64_t more) {
    const Dim in = c_.dims(c_.in(0))[2 + i];
    const Dim full = (in - Dim(1)) * Dim(a.stride) + Dim(more + reach(a));
    const std::string mode = c_.string_attr("auto_pad");
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (!c_.has_attr("output_shape") && !same) {
      a.pad_begin = Dim(window.pads_begin[i]);
      a.extent = full - a.pad_begin - Dim(window.pads_end[i]);
      return;
    }
    a.extent = in * Dim(a.stride);
    if (c_.has_attr("output_shape"))
      a.extent = Dim(window_list(c_, "output_shape", window.kernel.size(), 0, 0)[i]);
    const Dim total = Dim::max(full - a.extent, Dim(0)), half = Dim::floor_div(total, Dim(2));
    a.pad_begin = mode == "SAME_UPPER" ? half : total - half;
  }

  void set_conv(Axis& a, size_t i) {
    a.taps = a.stride == 1 ? a.kernel : ceil_div(reach(a), a.stride);
    a.tap_dilation = a.stride == 1 ? a.dilation : 1;
    const int64_t grow = (a.taps - 1) * a.tap_dilation;
    a.conv_begin = a.conv_end = grow;
    a.start = a.pad_begin;
    // How far the output ends behind (or before) the last full result; the input's size cancels out unless
    // output_shape fixes the output's.
    const Dim in = c_.dims(c_.in(0))[2 + i];
    const Dim past = a.pad_begin + a.extent - (in + Dim(grow)) * Dim(a.stride);
    const SymbolRange range = past.bounds(c_.graph().symbols);
    if (!past.is_static() && range.max > 0) {
      c_.fail(c_.about_attr("output_shape", Code::needs_constant, "the padding depends on a symbolic dim")
                  .because("dim " + std::to_string(i + 2) + " of " + c_.describe(c_.in(0)))
                  .try_("pin the dim with --dim NAME=N"));
      return;
    }
    if (past.is_static()) {
      const int64_t behind = std::max(*past.value(), -INT64_MAX);
      a.extra = std::max<int64_t>(behind, 0);
      a.conv_end -= std::min(grow, std::max<int64_t>(-behind, 0) / a.stride);
    }
    if (!a.pad_begin.is_static()) return;
    const int64_t whole = std::min(grow, *a.pad_begin.value() / a.stride);  // phases cut at the start
    a.conv_begin -= whole;
    a.start = a.pad_begin - Dim(whole * a.stride);
  }

  bool check_channels() {
    const ValueId x = c_.in(0), w = c_.in(1);
    groups_ = c_.int_attr("group");
    const Dim in = c_.dims(w)[0];
    if (groups_ < 1 || (in.is_static() && *in.value() % groups_ != 0)) {
      c_.fail(c_.about_attr("group", Code::bad_attribute, "group does not divide the channels")
                  .because("found " + std::to_string(groups_) + "; " + c_.describe(w) + " takes " +
                           in.to_string() + " channels"));
      return false;
    }
    if (c_.dims(x)[1].is_static() && in.is_static() && c_.dims(x)[1] != in) {
      c_.fail(c_.about_input(1, Code::shape_mismatch, "'W' does not fit the channels of 'X'")
                  .because(c_.describe(w) + " takes " + in.to_string() + " channels, " + c_.describe(x) +
                           " has " + c_.dims(x)[1].to_string()));
      return false;
    }
    c_.require_equal(c_.dims(x)[1], in, "'W' does not fit the channels of 'X'");
    each_ = Dim::floor_div(in, Dim(groups_));
    c_.require_equal(each_ * Dim(groups_), in, "group does not divide the channels");
    outputs_ = c_.dims(w)[1] * Dim(groups_);
    if (c_.has(2) && (c_.rank(c_.in(2)) != 1 || Dim::never_equal(c_.dims(c_.in(2))[0], outputs_))) {
      c_.fail(
          c_.about_input(2, Code::shape_mismatch, "'B' does not have one value per output channel")
              .because(c_.describe(c_.in(2)) + "; there are " + outputs_.to_string() + " output channels"));
    }
    return !c_.failed();
  }

  // ---- weights: [C, M / g, k...] to [M * phases, C / g, taps...], flipped
  ValueId weights() {
    ValueId w = by_group();
    std::vector<int64_t> order = {0};
    Dims split = {outputs_, each_}, joined = {outputs_ * phases(), each_};
    for (size_t i = 0; i < axes_.size(); ++i) {
      const Axis& a = axes_[i];
      if (a.stride > 1)
        w = fill_up(spread(w, static_cast<int64_t>(2 + i), a.dilation), static_cast<int64_t>(2 + i),
                    a.taps * a.stride);
      split.insert(split.end(), {Dim(a.taps), Dim(a.stride)});
      joined.push_back(Dim(a.taps));
      order.push_back(static_cast<int64_t>(3 + 2 * i));
    }
    order.push_back(1);
    for (size_t i = 0; i < axes_.size(); ++i) order.push_back(static_cast<int64_t>(2 + 2 * i));
    if (!is_single_phase()) w = b_.reshape(b_.transpose(b_.reshape(w, split), order), joined);
    return flip(w);
  }

  Dim phases() const {  // three strides below 2^31 are more than an int64 holds
    Dim count(1);
    for (const Axis& a : axes_) count = count * Dim(a.stride);
    return count;
  }
  bool is_single_phase() const { return phases().is_value(1); }

  // [M, C / g, k...]
  ValueId by_group() {
    const ValueId w = c_.in(1);
    Dims split = {Dim(groups_), each_}, joined = {outputs_, each_};
    split.insert(split.end(), c_.dims(w).begin() + 1, c_.dims(w).end());
    joined.insert(joined.end(), c_.dims(w).begin() + 2, c_.dims(w).end());
    std::vector<int64_t> order = {0, 2, 1};
    for (int64_t i = 3; i < static_cast<int64_t>(split.size()); ++i) order.push_back(i);
    return b_.reshape(b_.transpose(b_.reshape(w, split), order), joined);
  }

  // dilation - 1 zeros after each element of an axis.
  ValueId spread(ValueId w, int64_t axis, int64_t dilation) {
    if (dilation == 1 || c_.failed()) return w;
    Dims shape = c_.dims(w), joined = shape;
    joined[axis] = shape[axis] * Dim(dilation);
    shape.insert(shape.begin() + axis + 1, Dim(1));
    return b_.reshape(pad_end(b_.reshape(w, shape), axis + 1, dilation - 1), joined);
  }

  // The axis with zeros added, or the zeros after its last element taken away, to `extent`.
  ValueId fill_up(ValueId w, int64_t axis, int64_t extent) {
    if (c_.failed()) return kNone;
    const int64_t now = *c_.dims(w)[axis].value();
    return now > extent ? c_.slice_axis(w, axis, Dim(0), Dim(extent)) : pad_end(w, axis, extent - now);
  }

  ValueId pad_end(ValueId x, int64_t axis, int64_t amount) {
    if (amount == 0 || c_.failed()) return x;
    std::vector<int64_t> low(c_.dims(x).size(), 0), high = low;
    high[axis] = amount;
    return b_.op(Op::pad, {x}, {{"low", low}, {"high", high}});
  }

  ValueId flip(ValueId w) {
    if (c_.failed()) return kNone;
    Dims starts(c_.dims(w).size(), Dim(0));
    std::vector<int64_t> steps(starts.size(), 1);
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].taps == 1) continue;
      starts[2 + i] = Dim(axes_[i].taps - 1);
      steps[2 + i] = -1;
    }
    return c_.slice(w, starts, steps, c_.dims(w));
  }

  // Each bias once for every phase.
  ValueId phase_bias() {
    if (is_single_phase()) return c_.in(2);
    const ValueId column = b_.reshape(c_.in(2), {outputs_, Dim(1)});
    return b_.reshape(b_.broadcast(column, {outputs_, phases()}), {outputs_ * phases()});
  }

  // ---- result: [N, M * phases, Q...] to [N, M, Q * s...]
  ValueId interleave(ValueId y) {
    if (is_single_phase() || c_.failed()) return y;
    const Dims dims = c_.dims(y);
    Dims split = {dims[0], outputs_}, joined = split;
    std::vector<int64_t> order = {0, 1};
    const auto spatial = static_cast<int64_t>(axes_.size());
    for (const Axis& a : axes_) split.push_back(Dim(a.stride));
    for (int64_t i = 0; i < spatial; ++i) {
      split.push_back(dims[2 + i]);
      joined.push_back(dims[2 + i] * Dim(axes_[i].stride));
      order.insert(order.end(), {2 + spatial + i, 2 + i});
    }
    return b_.reshape(b_.transpose(b_.reshape(y, split), order), joined);
  }

  // The wanted part, with zeros after it where it ends behind the last result.
  ValueId cut(ValueId y, bool extra) {
    if (c_.failed()) return kNone;
    Dims starts(c_.dims(y).size(), Dim(0)), shape = c_.dims(y);
    for (size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].extent.bounds(c_.graph().symbols).max < 0) {
        return c_.fail(
            c_.about_node(Code::shape_mismatch, "the pads leave nothing of the output")
                .because("dim " + std::to_string(i + 2) + " would be " + axes_[i].extent.to_string()));
      }
      starts[2 + i] = axes_[i].start;
      shape[2 + i] = axes_[i].extent - Dim(axes_[i].extra);
    }
    y = c_.slice(y, starts, std::vector<int64_t>(shape.size(), 1), shape);
    for (size_t i = 0; extra && i < axes_.size(); ++i)
      y = pad_end(y, static_cast<int64_t>(2 + i), axes_[i].extra);
    return y;
  }

  OpContext& c_;
  Builder& b_;
  std::vector<Axis> axes_;
  int64_t groups_ = 1;
  Dim each_, outputs_;  // input channels of a group, output channels
};

}  // namespace

Results lower_conv_transpose(OpContext& c) {
  return ConvTranspose(c).run();
}

}  // namespace ge
