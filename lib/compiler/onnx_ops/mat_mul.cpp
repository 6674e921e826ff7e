// MatMul and MatMulInteger by numpy's rules on core dot, which wants equal ranks and equal batch dims.
#include "compiler/onnx_ops/conversion.h"

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

struct Factors {
  ValueId a, b;
  size_t a_input, b_input;  // what they come from, for messages
};

// A matrix on the right is broadcast over the batch: a view of stride 0, which selection folds into one dot
// over all rows.
ValueId dot_batched(OpContext& c, ValueId lhs, ValueId rhs, const Factors& f) {
  Builder& b = c.build();
  const Dims l = c.dims(lhs), r = c.dims(rhs);
  auto batch = b.broadcast_shape(batch_of(l), batch_of(r));
  if (!batch.ok()) {
    return c.fail(c.about_node(Code::broadcast_mismatch, "the batch dims of the inputs do not broadcast")
                      .because(c.describe(c.in(f.a_input)) + " and " + c.describe(c.in(f.b_input))));
  }
  const ValueId left = b.broadcast(lhs, joined(*batch, l[l.size() - 2], l[l.size() - 1]));
  const ValueId right = b.broadcast(rhs, joined(*batch, r[r.size() - 2], r[r.size() - 1]));
  return b.op(Op::dot, {left, right});
}

bool check_operands(OpContext& c, const Factors& f) {
  for (const size_t i : {f.a_input, f.b_input}) {
    if (c.rank(c.in(i)) > 0) continue;
    c.fail(c.about_input(i, Code::operand_rank, "a scalar has no matrix product")
               .because("found " + c.describe(c.in(i)))
               .try_("use Mul"));
    return false;
  }
  const Dims& a = c.dims(f.a);
  const Dims& b = c.dims(f.b);
  const Dim& depth = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (a.back().is_static() && depth.is_static() && a.back() != depth) {
    c.fail(c.about_node(Code::shape_mismatch, "the inner dims differ")
               .because(c.describe(c.in(f.a_input)) + " has " + a.back().to_string() + " columns, " +
                        c.describe(c.in(f.b_input)) + " has " + depth.to_string() + " rows"));
    return false;
  }
  return true;
}

}  // namespace

ValueId matrix_product(OpContext& c, ValueId a, size_t a_input, ValueId b, size_t b_input) {
  const Factors f{a, b, a_input, b_input};
  if (c.failed() || !check_operands(c, f)) return kNone;
  Builder& build = c.build();
  const bool row = c.rank(a) == 1, column = c.rank(b) == 1;
  const ValueId lhs = row ? build.reshape(a, {Dim(1), c.dims(a)[0]}) : a;
  const ValueId rhs = column ? build.reshape(b, {c.dims(b)[0], Dim(1)}) : b;
  const ValueId matrix = dot_batched(c, lhs, rhs, f);
  if (c.failed() || !(row || column)) return matrix;
  Dims shape = c.dims(matrix);  // a vector's own dim goes again
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return build.reshape(matrix, shape);
}

namespace {

// Input `i` in int32, its zero point taken off: one number, one for each row of A or column of B, or a tensor
// that broadcasts.
ValueId without_zero_point(OpContext& c, size_t i) {
  Builder& b = c.build();
  const ValueId x = b.cast(c.in(i), DType::int32);
  if (!c.has(2 + i) || c.failed()) return x;
  const ValueId zero = c.in(2 + i);
  Dims shape = c.dims(zero);
  if (shape.size() == 1 && shape[0].is_value(1)) shape.clear();
  if (shape.size() == 1 && i == 0 && c.rank(x) > 1) shape.push_back(Dim(1));
  const ValueId y = b.map(Op::sub, {x, b.reshape(b.cast(zero, DType::int32), shape)});
  if (c.failed() || c.dims(y) == c.dims(x)) return y;
  return c.fail(c.about_input(2 + i, Code::shape_mismatch,
                              "a zero point must be one number, or one for each " +
                                  std::string(i == 0 ? "row of 'A'" : "column of 'B'"))
                    .because("found " + c.describe(zero) + "; the input is " + c.describe(c.in(i))));
}

}  // namespace

Results lower_mat_mul(OpContext& c) {
  return matrix_product(c, c.in(0), 0, c.in(1), 1);
}

// In int32, which holds every product of two 9-bit differences; the sum may wrap.
Results lower_mat_mul_integer(OpContext& c) {
  const ValueId a = without_zero_point(c, 0), b = without_zero_point(c, 1);
  return matrix_product(c, a, 0, b, 1);
}

}  // namespace ge
