// MatMul by numpy's rules on core dot, which wants equal ranks and equal batch dims.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

Dims batch_of(const Dims& dims) {
  return {dims.begin(), dims.end() - 2};
}

Dims joined(const Dims& batch, const Dim& rows, const Dim& columns) {
  Dims shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

// A matrix on the right is broadcast over the batch: a view of stride 0, which selection folds into one dot
// over all rows.
ValueId dot_batched(OpContext& c, ValueId lhs, ValueId rhs) {
  Builder& b = c.build();
  const Dims l = c.dims(lhs), r = c.dims(rhs);
  auto batch = b.broadcast_shape(batch_of(l), batch_of(r));
  if (!batch.ok()) {
    return c.fail(c.about_node(Code::broadcast_mismatch, "the batch dims of the inputs do not broadcast")
                      .because(c.describe(c.in(0)) + " and " + c.describe(c.in(1))));
  }
  const ValueId left = b.broadcast(lhs, joined(*batch, l[l.size() - 2], l[l.size() - 1]));
  const ValueId right = b.broadcast(rhs, joined(*batch, r[r.size() - 2], r[r.size() - 1]));
  return b.op(Op::dot, {left, right});
}

bool check_operands(OpContext& c) {
  for (size_t i = 0; i < 2; ++i) {
    if (c.rank(c.in(i)) > 0) continue;
    c.fail(c.about_input(i, Code::operand_rank, "a scalar has no matrix product")
               .because("found " + c.describe(c.in(i)))
               .try_("use Mul"));
    return false;
  }
  const Dims& a = c.dims(c.in(0));
  const Dims& b = c.dims(c.in(1));
  const Dim& depth = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (a.back().is_static() && depth.is_static() && a.back() != depth) {
    c.fail(c.about_node(Code::shape_mismatch, "the inner dims differ")
               .because(c.describe(c.in(0)) + " has " + a.back().to_string() + " columns, " +
                        c.describe(c.in(1)) + " has " + depth.to_string() + " rows"));
    return false;
  }
  return true;
}

}  // namespace

Results lower_mat_mul(OpContext& c) {
  if (!check_operands(c)) return kNone;
  Builder& b = c.build();
  const bool row = c.rank(c.in(0)) == 1, column = c.rank(c.in(1)) == 1;
  const ValueId lhs = row ? b.reshape(c.in(0), {Dim(1), c.dims(c.in(0))[0]}) : c.in(0);
  const ValueId rhs = column ? b.reshape(c.in(1), {c.dims(c.in(1))[0], Dim(1)}) : c.in(1);
  const ValueId matrix = dot_batched(c, lhs, rhs);
  if (c.failed() || !(row || column)) return matrix;
  Dims shape = c.dims(matrix);  // a vector's own dim goes again
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return b.reshape(matrix, shape);
}

}  // namespace ge
