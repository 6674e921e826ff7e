// Gemm: alpha * A' B' + beta * C on core dot.
#include <cmath>

#include "base/text.h"
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// Unsigned integers wrap: x times -2 is 0 - x * 2, and -2 itself has no unsigned value.
ValueId scaled(OpContext& c, ValueId x, double factor) {
  if (factor < 0 && class_of(c.dtype(x)) == DTypeClass::kUnsigned)
    return c.build().map(Op::sub, {c.scalar_like(x, 0), scaled(c, x, -factor)});
  return factor == 1 ? x : c.build().map(Op::mul, {x, c.scalar_like(x, factor)});
}

}  // namespace

Results lower_gemm(OpContext& c) {
  Builder& b = c.build();
  for (const char* factor : {"alpha", "beta"}) {
    const double value = c.float_attr(factor);
    if (is_float(c.dtype(c.in(0))) || value == std::floor(value)) continue;
    return c.fail(
        c.about_attr(factor, Code::bad_attribute, std::string(factor) + " must be whole for integers")
            .because("found " + double_text(value) + " for " + c.describe(c.in(0))));
  }
  for (size_t i = 0; i < 2; ++i) {
    if (c.rank(c.in(i)) == 2) continue;
    return c.fail(c.about_input(i, Code::operand_rank, "'" + c.op().input_name(i) + "' must be a matrix")
                      .because("found " + c.describe(c.in(i)))
                      .try_("use MatMul for other ranks"));
  }
  const bool transpose_a = c.int_attr("transA") != 0, transpose_b = c.int_attr("transB") != 0;
  const Dim& a_depth = c.dims(c.in(0))[transpose_a ? 0 : 1];
  const Dim& b_depth = c.dims(c.in(1))[transpose_b ? 1 : 0];
  if (a_depth.is_static() && b_depth.is_static() && a_depth != b_depth) {
    return c.fail(c.about_node(Code::shape_mismatch, "the inner dims differ")
                      .because(c.describe(c.in(0)) + (transpose_a ? " transposed" : "") + " has " +
                               a_depth.to_string() + " columns, " + c.describe(c.in(1)) +
                               (transpose_b ? " transposed" : "") + " has " + b_depth.to_string() + " rows"));
  }
  const ValueId lhs = transpose_a ? b.transpose(c.in(0), {1, 0}) : c.in(0);
  const ValueId rhs = transpose_b ? b.transpose(c.in(1), {1, 0}) : c.in(1);
  const ValueId product = scaled(c, b.op(Op::dot, {lhs, rhs}), c.float_attr("alpha"));
  if (!c.has(2) || c.failed()) return product;
  return b.map(Op::add, {product, b.broadcast(scaled(c, c.in(2), c.float_attr("beta")), c.dims(product))});
}

}  // namespace ge
