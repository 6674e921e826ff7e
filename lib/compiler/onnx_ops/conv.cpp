// Conv, FusedConv, ConvInteger and QLinearConv: core conv with auto_pad resolved and every size checked.
#include "compiler/onnx_ops/activation_by_name.h"
#include "compiler/onnx_ops/conversion.h"
#include "compiler/onnx_ops/window.h"

namespace ge {
namespace {

// W is [M, C / group, kernel...] with a static kernel; nullopt and a failure where it is not.
std::optional<std::vector<int64_t>> kernel_of(OpContext& c, size_t weight = 1) {
  const ValueId x = c.in(0), w = c.in(weight);
  if (c.rank(w) != c.rank(x)) {
    c.fail(c.about_input(
                weight, Code::operand_rank,
                "'" + c.op().input_name(0) + "' and '" + c.op().input_name(weight) + "' must have one rank")
               .because(c.describe(x) + " and " + c.describe(w)));
    return std::nullopt;
  }
  auto kernel = static_values(Dims(c.dims(w).begin() + std::min<int64_t>(2, c.rank(w)), c.dims(w).end()));
  if (!kernel) {
    c.fail(c.about_input(weight, Code::needs_constant, "the kernel's size must be known at compile time")
               .because("found " + c.describe(w)));
  }
  return kernel;
}

bool check_sizes(OpContext& c, const Window& window, const std::vector<int64_t>& kernel, size_t weight = 1) {
  const ValueId x = c.in(0), w = c.in(weight);
  const int64_t group = c.int_attr("group");
  if (group < 1) {
    c.fail(c.about_attr("group", Code::bad_attribute, "group is not valid")
               .because("found " + std::to_string(group) + ", allowed 1 and up"));
    return false;
  }
  if (window.kernel != kernel) {
    c.fail(c.about_attr("kernel_shape", Code::bad_attribute, "kernel_shape is not that of 'W'")
               .because("'W' is " + c.describe(w))
               .try_("remove \"kernel_shape\""));
    return false;
  }
  const Dim expected = c.dims(w)[1] * Dim(group);
  if (c.dims(x)[1].is_static() && expected.is_static() && c.dims(x)[1] != expected) {
    c.fail(c.about_input(weight, Code::shape_mismatch, "'W' does not fit the channels of 'X'")
               .because(c.describe(w) + " with group " + std::to_string(group) + " wants " +
                        expected.to_string() + " channels, " + c.describe(x) + " has " +
                        c.dims(x)[1].to_string()));
    return false;
  }
  if (c.dims(w)[0].is_static() && *c.dims(w)[0].value() % group != 0) {
    c.fail(c.about_attr("group", Code::bad_attribute, "group does not divide the output channels")
               .because(std::to_string(group) + " groups, " + c.describe(w) + " has " +
                        c.dims(w)[0].to_string() + " output channels"));
    return false;
  }
  return true;
}

// The core op on operands of the shapes of inputs 0 and 1, and of a bias.
ValueId convolution(OpContext& c, std::vector<ValueId> operands, const Window& window) {
  if (c.failed()) return kNone;
  return c.build().op(Op::conv, std::move(operands),
                      {{"strides", window.strides},
                       {"pads_begin", window.pads_begin},
                       {"pads_end", window.pads_end},
                       {"dilations", window.dilations},
                       {"groups", c.int_attr("group")}});
}

// Input `i`, where it is given, has one value per output channel.
bool check_bias(OpContext& c, size_t i, size_t weight = 1) {
  if (!c.has(i)) return true;
  const ValueId w = c.in(weight), bias = c.in(i);
  const bool fits = c.rank(bias) == 1 && !Dim::never_equal(c.dims(bias)[0], c.dims(w)[0]);
  if (!fits) {
    c.fail(c.about_input(i, Code::shape_mismatch,
                         "'" + c.op().input_name(i) + "' does not have one value per output channel")
               .because(c.describe(bias) + "; 'W' is " + c.describe(w)));
  }
  return fits;
}

}  // namespace

Results lower_conv(OpContext& c) {
  const auto kernel = kernel_of(c);
  if (!kernel) return kNone;
  const Window window = read_window(c, *kernel);
  if (c.failed() || !check_sizes(c, window, *kernel) || !check_bias(c, 2)) return kNone;
  std::vector<ValueId> operands = {c.in(0), c.in(1)};
  if (c.has(2)) operands.push_back(c.in(2));
  return convolution(c, std::move(operands), window);
}

// Inputs X, W, B, Z: the activation of Conv(X, W, B) + Z (com.microsoft).
Results lower_fused_conv(OpContext& c) {
  ValueId y = lower_conv(c).values.front();
  if (c.failed()) return kNone;
  if (c.has(3)) y = c.build().map(Op::add, {y, c.build().broadcast(c.in(3), c.dims(y))});
  const std::vector<double> given = c.floats_attr("activation_params");
  ActivationParameters parameters;
  if (!given.empty()) parameters.first = given[0];
  if (given.size() > 1) parameters.second = given[1];
  return activation_by_name(c, y, "activation", parameters);
}

namespace {

// A parameter of all of an operand of rank `rank`, or of each of the `channels` along its axis `axis`; it
// broadcasts to the operand. Only where `channels` is given may there be more than one.
ValueId beside_operand(OpContext& c, size_t i, int64_t rank, size_t axis, std::optional<Dim> channels) {
  const ValueId p = c.in(i);
  const Dim count = product(c.dims(p));
  if (count.is_value(1)) return c.build().reshape(p, {});
  if (!channels || c.rank(p) != 1 || Dim::never_equal(count, *channels)) {
    return c.fail(c.about_input(i, Code::shape_mismatch,
                                "'" + c.op().input_name(i) + "' must be one number" +
                                    std::string(channels ? ", or one for each output channel" : ""))
                      .because("found " + c.describe(p)));
  }
  Dims shape(static_cast<size_t>(rank), Dim(1));
  shape[axis] = count;
  return c.build().reshape(p, shape);
}

// Input `i` in float64, the zero point `zero` taken off.
ValueId without_zero_point(OpContext& c, size_t i, size_t zero, bool is_weight) {
  Builder& b = c.build();
  const ValueId x = b.cast(c.in(i), DType::float64);
  if (!c.has(zero) || c.failed()) return x;
  const auto channels = is_weight ? std::optional(c.dims(c.in(i))[0]) : std::nullopt;
  return b.map(Op::sub, {x, b.cast(beside_operand(c, zero, c.rank(x), 0, channels), DType::float64)});
}

}  // namespace

// In float64: products of 9-bit numbers and their sums are exact there, for kernels of up to 2^37 elements.
// The sum wraps to int32 as one in int32 would.
Results lower_conv_integer(OpContext& c) {
  const auto kernel = kernel_of(c);
  if (!kernel) return kNone;
  const Window window = read_window(c, *kernel);
  if (c.failed() || !check_sizes(c, window, *kernel)) return kNone;
  const ValueId x = without_zero_point(c, 0, 2, false), w = without_zero_point(c, 1, 3, true);
  const ValueId sum = convolution(c, {x, w}, window);
  return c.build().cast(c.build().cast(sum, DType::int64), DType::int32);
}

// Inputs x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B. The sum is exact, as
// in ConvInteger; it is scaled in float32 and rounded to even.
Results lower_q_linear_conv(OpContext& c) {
  Builder& b = c.build();
  const auto kernel = kernel_of(c, 3);
  if (!kernel) return kNone;
  const Window window = read_window(c, *kernel);
  if (c.failed() || !check_sizes(c, window, *kernel, 3) || !check_bias(c, 8, 3)) return kNone;
  const ValueId x = without_zero_point(c, 0, 2, false), w = without_zero_point(c, 3, 5, true);
  ValueId sum = convolution(c, {x, w}, window);
  if (c.failed()) return kNone;
  const int64_t rank = c.rank(sum);
  const Dim channels = c.dims(c.in(3))[0];
  if (c.has(8)) {
    Dims shape(static_cast<size_t>(rank), Dim(1));
    shape[1] = channels;
    sum = b.map(Op::add, {sum, b.cast(b.reshape(c.in(8), shape), DType::float64)});
  }
  const ValueId scale = b.map(
      Op::div,
      {b.map(Op::mul, {beside_operand(c, 1, rank, 1, std::nullopt), beside_operand(c, 4, rank, 1, channels)}),
       beside_operand(c, 6, rank, 1, std::nullopt)});
  const ValueId quotient = b.map(Op::mul, {b.cast(sum, DType::float32), scale});
  const ValueId zero = beside_operand(c, 7, rank, 1, std::nullopt);
  return c.failed() ? kNone : quantize_rounded(c, quotient, zero, c.dtype(c.in(7)));
}

}  // namespace ge
