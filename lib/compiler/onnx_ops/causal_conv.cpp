// CausalConvWithState: each channel convolved with a kernel of its own over its past, which a state of kernel
// - 1 elements carries from one call to the next; zeros where there is none.
#include "compiler/onnx_ops/normalization.h"

namespace ge {

Results lower_causal_conv_with_state(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0), w = c.in(1);
  const std::string activation = c.string_attr("activation");
  for (const size_t i : {0, 1, 3}) {
    if (!c.has(i) || c.rank(c.in(i)) == 3) continue;
    return c.fail(c.about_input(i, Code::operand_rank, "'" + c.op().input_name(i) + "' must have rank 3")
                      .because("found " + c.describe(c.in(i))));
  }
  const Dims dims = c.dims(x);
  const auto channels = dims[1].value(), kernel = c.dims(w)[2].value();
  if (!channels || !kernel || *channels < 1 || *kernel < 1) {
    return c.fail(
        c.about_input(1, Code::needs_constant, "channels and kernel must be known at compile time, and not 0")
            .because("found " + c.describe(x) + " and " + c.describe(w)));
  }
  c.require_equal(c.dims(w)[0], dims[1], "'weight' does not have one kernel for each channel");
  c.require_equal(c.dims(w)[1], Dim(1), "'weight' must be [channels, 1, kernel]");
  if (c.has(2)) check_vector(c, 2, dims[1], "channel");
  const Dims state{dims[0], dims[1], Dim(*kernel - 1)};
  if (c.has(3)) {
    for (size_t i = 0; i < 3; ++i)
      c.require_equal(c.dims(c.in(3))[i], state[i], "'past_state' must be [batch, channels, kernel - 1]");
  }
  if (c.failed()) return kNone;
  const ValueId past = c.has(3) ? c.in(3) : b.broadcast(c.scalar_like(x, 0), state);
  const ValueId whole = *kernel == 1 ? x : c.concat({past, x}, 2);
  std::vector<ValueId> operands{whole, w};
  if (c.has(2)) operands.push_back(c.in(2));
  const ValueId y = b.op(Op::conv, std::move(operands),
                         {{"strides", std::vector<int64_t>{1}},
                          {"pads_begin", std::vector<int64_t>{0}},
                          {"pads_end", std::vector<int64_t>{0}},
                          {"dilations", std::vector<int64_t>{1}},
                          {"groups", *channels}});
  const ValueId present = c.slice_axis(whole, 2, dims[2], Dim(*kernel - 1));
  if (c.failed()) return kNone;
  return std::vector<ValueId>{activation == "none" ? y : b.map(Op::silu, {y}), present};
}

}  // namespace ge
