// Trilu: keeps one triangle of matrices, by comparing row and column numbers.
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// Upper keeps column >= row + k, lower column <= row + k.
Results lower_trilu(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t rank = c.rank(x);
  if (rank < 2) {
    return c.fail(c.about_input(0, Code::operand_rank, "'input' must have rank 2 or more")
                      .because("found " + c.describe(x)));
  }
  const Dims matrix(c.dims(x).end() - 2, c.dims(x).end());
  const auto numbers = [&](int64_t axis) {
    return b.op(Op::iota, {}, {{"shape", matrix}, {"axis", axis}, {"dtype", DType::int64}});
  };
  const ValueId k = c.has(1) ? b.reshape(c.in(1), {}) : b.scalar(DType::int64, 0);
  const ValueId diagonal = b.map(Op::add, {numbers(0), k});
  const ValueId keep =
      b.map(c.int_attr("upper") != 0 ? Op::greater_equal : Op::less_equal, {numbers(1), diagonal});
  return b.map(Op::select, {keep, x, c.scalar_like(x, 0)});
}

}  // namespace ge
