// Conv, FusedConv, ConvInteger and QLinearConv: core conv with auto_pad resolved and every size checked.
#include "compiler/onnx_ops/activation_by_name.h"
#include "compiler/onnx_ops/window.h"

namespace ge {
namespace {

// W is [M, C / group, kernel...] with a static kernel; nullopt and a failure where it is not.
std::optional<std::vector<int64_t>> kernel_of(OpContext& c) {
  const ValueId x = c.in(0), w = c.in(1);
  if (c.rank(w) != c.rank(x)) {
    c.fail(c.about_input(1, Code::operand_rank, "'X' and 'W' must have one rank")
               .because(c.describe(x) + " and " + c.describe(w)));
    return std::nullopt;
  }
  auto kernel = static_values(Dims(c.dims(w).begin() + std::min<int64_t>(2, c.rank(w)), c.dims(w).end()));
  if (!kernel) {
    c.fail(c.about_input(1, Code::needs_constant, "the kernel's size must be known at compile time")
               .because("found " + c.describe(w)));
  }
  return kernel;
}

bool check_sizes(OpContext& c, const Window& window, const std::vector<int64_t>& kernel) {
  const ValueId x = c.in(0), w = c.in(1);
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
    c.fail(c.about_input(1, Code::shape_mismatch, "'W' does not fit the channels of 'X'")
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
bool check_bias(OpContext& c, size_t i) {
  if (!c.has(i)) return true;
  const ValueId w = c.in(1), bias = c.in(i);
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

// Input `i` in float64, its zero point taken off.
ValueId without_zero_point(OpContext& c, size_t i) {
  Builder& b = c.build();
  const ValueId x = b.cast(c.in(i), DType::float64);
  if (!c.has(2 + i) || c.failed()) return x;
  const ValueId zero = c.in(2 + i);
  const Dim count = product(c.dims(zero));
  const bool single = count.is_value(1);
  if (!single && !(i == 1 && c.rank(zero) == 1 && !Dim::never_equal(count, c.dims(c.in(1))[0]))) {
    return c.fail(c.about_input(2 + i, Code::shape_mismatch,
                                "a zero point must be one number" +
                                    std::string(i == 1 ? ", or one for each output channel" : ""))
                      .because("found " + c.describe(zero)));
  }
  Dims shape(single ? 0 : c.dims(x).size(), Dim(1));
  if (!single) shape[0] = count;
  return b.map(Op::sub, {x, b.cast(b.reshape(zero, shape), DType::float64)});
}

}  // namespace

// In float64: products of 9-bit numbers and their sums are exact there, for kernels of up to 2^37 elements.
// The sum wraps to int32 as one in int32 would.
Results lower_conv_integer(OpContext& c) {
  const auto kernel = kernel_of(c);
  if (!kernel) return kNone;
  const Window window = read_window(c, *kernel);
  if (c.failed() || !check_sizes(c, window, *kernel)) return kNone;
  const ValueId x = without_zero_point(c, 0), w = without_zero_point(c, 1);
  const ValueId sum = convolution(c, {x, w}, window);
  return c.build().cast(c.build().cast(sum, DType::int64), DType::int32);
}

}  // namespace ge
