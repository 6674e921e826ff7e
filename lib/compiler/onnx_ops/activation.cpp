// Activations with parameters: each is a row of scalar_ops.def whose further operands are scalars.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

Results with(OpContext& c, Op op, std::string_view first) {
  return c.build().map(op, {c.in(0), c.scalar_like(c.in(0), c.float_attr(first))});
}
Results with(OpContext& c, Op op, std::string_view first, std::string_view second) {
  const ValueId x = c.in(0);
  return c.build().map(op,
                       {x, c.scalar_like(x, c.float_attr(first)), c.scalar_like(x, c.float_attr(second))});
}

}  // namespace

Results lower_leaky_relu(OpContext& c) {
  return with(c, Op::leaky_relu, "alpha");
}
Results lower_elu(OpContext& c) {
  return with(c, Op::elu, "alpha");
}
Results lower_celu(OpContext& c) {
  return with(c, Op::celu, "alpha");
}
Results lower_thresholded_relu(OpContext& c) {
  return with(c, Op::thresholded_relu, "alpha");
}
Results lower_swish(OpContext& c) {
  if (c.float_attr("alpha") == 1) return c.build().map(Op::silu, {c.in(0)});
  return with(c, Op::swish, "alpha");
}
Results lower_selu(OpContext& c) {
  return with(c, Op::selu, "alpha", "gamma");
}
Results lower_hard_sigmoid(OpContext& c) {
  return with(c, Op::hard_sigmoid, "alpha", "beta");
}
Results lower_shrink(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  if (!is_float(c.dtype(x))) {  // lambd and bias have fractions: in float64, cut to an integer at the end
    const auto number = [&](const char* name) { return b.scalar(DType::float64, c.float_attr(name)); };
    return b.cast(b.map(Op::shrink, {b.cast(x, DType::float64), number("lambd"), number("bias")}),
                  c.dtype(x));
  }
  return with(c, Op::shrink, "lambd", "bias");
}

// The slope broadcasts to X, never X to the slope.
Results lower_p_relu(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const ValueId slope = b.broadcast(c.in(1), c.dims(x));
  if (is_float(c.dtype(x))) return b.map(Op::leaky_relu, {x, slope});
  return b.map(Op::select, {b.map(Op::less, {x, c.scalar_like(x, 0)}), b.map(Op::mul, {slope, x}), x});
}

Results lower_gelu(OpContext& c) {
  const std::string approximate = c.string_attr("approximate");
  return c.build().map(approximate == "tanh" ? Op::gelu_tanh : Op::gelu, {c.in(0)});
}

// Swish of A, times B.
Results lower_swi_glu(OpContext& c) {
  const ValueId gate = lower_swish(c).values.front();
  if (c.rank(c.in(0)) == c.rank(c.in(1)))
    for (size_t i = 0; i < c.dims(c.in(0)).size(); ++i)
      c.require_equal(c.dims(c.in(1))[i], c.dims(c.in(0))[i], "A and B have one shape");
  else
    c.fail(c.about_input(1, Code::operand_rank, "A and B have one shape")
               .because(c.describe(c.in(0)) + " and " + c.describe(c.in(1))));
  return c.failed() ? kNone : c.build().map(Op::mul, {gate, c.in(1)});
}

// com.microsoft: x * sigmoid(alpha * x).
Results lower_quick_gelu(OpContext& c) {
  return lower_swish(c);
}

namespace {

// x + bias of one value per element of the last axis; x where the node has none.
ValueId biased(OpContext& c) {
  if (!c.has(1)) return c.in(0);
  const ValueId x = c.in(0), bias = c.in(1);
  if (c.rank(x) == 0 || c.rank(bias) != 1) {
    return c.fail(c.about_input(1, Code::operand_rank,
                                "'" + c.op().input_name(1) + "' must be a vector beside the last dim of '" +
                                    c.op().input_name(0) + "'")
                      .because("found " + c.describe(bias) + " beside " + c.describe(x)));
  }
  return c.build().map(Op::add, {x, c.build().broadcast(bias, c.dims(x))});
}

}  // namespace

// com.microsoft: Gelu by tanh, of X + bias.
Results lower_fast_gelu(OpContext& c) {
  return c.build().map(Op::gelu_tanh, {biased(c)});
}
// com.microsoft: Gelu of A + B.
Results lower_bias_gelu(OpContext& c) {
  return c.build().map(Op::gelu, {biased(c)});
}

}  // namespace ge
