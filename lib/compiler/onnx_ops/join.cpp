// Concat and Gather.
#include "compiler/onnx_ops/op_context.h"

namespace ge {

Results lower_concat(OpContext& c) {
  const int64_t rank = c.rank(c.in(0));
  const int64_t axis = c.axis_attr("axis", rank, c.in(0));
  std::vector<ValueId> parts;
  for (size_t i = 0; i < c.input_count() && !c.failed(); ++i) {
    if (c.rank(c.in(i)) != rank) {
      c.fail(c.about_input(i, Code::operand_rank, "inputs must have one rank")
                 .because(c.describe(c.in(0)) + " and " + c.describe(c.in(i))));
    }
    for (int64_t d = 0; d < rank && !c.failed(); ++d) {
      const Dim& here = c.dims(c.in(i))[d];
      const Dim& first = c.dims(c.in(0))[d];
      if (d == axis || !here.is_static() || !first.is_static() || here == first) continue;
      c.fail(c.about_input(i, Code::shape_mismatch, "inputs differ in dim " + std::to_string(d))
                 .because(c.describe(c.in(0)) + " and " + c.describe(c.in(i)) + "; only dim " +
                          std::to_string(axis) + " may differ"));
    }
    parts.push_back(c.in(i));
  }
  return c.concat(std::move(parts), axis);
}

Results lower_gather(OpContext& c) {
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)), c.in(0));
  if (c.failed() || !indices_in_range(c, 1, axis, 1)) return kNone;
  return c.build().op(Op::gather, {c.in(0), c.in(1)}, {{"axis", axis}});
}

}  // namespace ge
