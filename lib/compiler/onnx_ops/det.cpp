// Det: determinants by elimination with row pivots, one step a column, unrolled. 16-bit floats are taken in
// float32.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// A step makes about 20 nodes.
constexpr int64_t kLargest = 64;

// One step on [batch, m, m]: the product so far times the pivot, and the rest [batch, m - 1, m - 1].
struct Step {
  ValueId determinant, rest;
};

Step eliminate(OpContext& c, ValueId a, ValueId determinant) {
  Builder& b = c.build();
  const Dim batch = c.dims(a)[0];
  const int64_t m = *c.dims(a)[1].value();
  const ValueId column = c.slice_axis(a, 2, Dim(0), Dim(1));  // [batch, m, 1]
  const ValueId best = b.reduce(b.map(Op::abs, {column}), "argmax", {1}, true);
  if (c.failed()) return {kNone, kNone};
  const ValueId is_pivot = b.map(Op::equal, {c.positions({1, Dim(m), 1}, 1), best});  // [batch, m, 1]
  const ValueId zero = c.scalar_like(a, 0);
  const ValueId pivot_row =
      b.reduce(b.map(Op::select, {is_pivot, a, zero}), "sum", {1}, true);  // [batch, 1, m]
  const ValueId first_row = c.slice_axis(a, 1, Dim(0), Dim(1));
  const ValueId others = c.slice_axis(b.map(Op::select, {is_pivot, first_row, a}), 1, Dim(1), Dim(m - 1));
  const ValueId pivot = c.slice_axis(pivot_row, 2, Dim(0), Dim(1));  // [batch, 1, 1]
  const ValueId swapped = b.map(Op::greater, {best, c.size_scalar(Dim(0))});
  const ValueId factor = b.map(Op::select, {swapped, b.map(Op::neg, {pivot}), pivot});
  determinant = b.map(Op::mul, {determinant, b.reshape(factor, {batch})});
  // A column of zeros has made the determinant 0 already: what is divided then must only be finite.
  const ValueId divisor = b.map(Op::select, {b.map(Op::equal, {pivot, zero}), c.scalar_like(a, 1), pivot});
  const ValueId times = b.map(Op::div, {c.slice_axis(others, 2, Dim(0), Dim(1)), divisor});
  const ValueId taken = b.map(Op::mul, {times, c.slice_axis(pivot_row, 2, Dim(1), Dim(m - 1))});
  return {determinant, b.map(Op::sub, {c.slice_axis(others, 2, Dim(1), Dim(m - 1)), taken})};
}

}  // namespace

Results lower_det(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const Dims dims = c.dims(x);
  if (dims.size() < 2)
    return c.fail(
        c.about_input(0, Code::operand_rank, "'X' must be matrices").because("found " + c.describe(x)));
  const auto rows = dims[dims.size() - 2].value(), columns = dims.back().value();
  if (!rows || !columns) {
    return c.fail(
        c.about_input(0, Code::needs_constant, "the size of the matrices must be known at compile time")
            .because("found " + c.describe(x))
            .try_("pin the dim with --dim NAME=N"));
  }
  if (*rows != *columns)
    return c.fail(c.about_input(0, Code::shape_mismatch, "the matrices are not square")
                      .because("found " + c.describe(x)));
  if (*rows > kLargest) {
    return c.fail(c.about_input(0, Code::unsupported_feature, "the matrices are larger than is supported")
                      .because("found " + c.describe(x) + ", supported up to " + std::to_string(kLargest)));
  }
  const Dims batch(dims.begin(), dims.end() - 2);
  const Dim count = product(batch);
  Step step{b.broadcast(c.scalar_like(c.wide(x), 1), {count}),
            b.reshape(c.wide(x), {count, Dim(*rows), Dim(*rows)})};
  for (int64_t m = *rows; m > 1 && !c.failed(); --m) step = eliminate(c, step.rest, step.determinant);
  if (*rows > 0) step.determinant = b.map(Op::mul, {step.determinant, b.reshape(step.rest, {count})});
  return c.failed() ? kNone : b.cast(b.reshape(step.determinant, batch), c.dtype(x));
}

}  // namespace ge
