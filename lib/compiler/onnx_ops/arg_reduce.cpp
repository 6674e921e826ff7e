// ArgMax and ArgMin: core reduce drops the axis; keepdims puts it back. An empty axis is refused, as numpy
// does; a symbolic one when it is bound.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

Results arg_reduce(OpContext& c, const std::string& kind) {
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  if (c.failed()) return kNone;
  const std::string empty = "an empty axis has no " + kind.substr(3) + "imum";
  if (c.dims(x)[axis].is_value(0)) {
    return c.fail(c.about_input(0, Code::shape_mismatch, empty)
                      .because("axis " + std::to_string(axis) + " of " + c.describe(x)));
  }
  c.require_at_least(c.dims(x)[axis], Dim(1), empty);
  const ValueId index =
      c.build().op(Op::reduce, {x},
                   {{"kind", kind},
                    {"axes", std::vector<int64_t>{axis}},
                    {"select_last", static_cast<int64_t>(c.int_attr("select_last_index") != 0)}});
  if (c.int_attr("keepdims") == 0) return index;
  Dims shape = c.dims(x);
  shape[axis] = Dim(1);
  return c.build().reshape(index, shape);
}

}  // namespace

Results lower_arg_max(OpContext& c) {
  return arg_reduce(c, "argmax");
}
Results lower_arg_min(OpContext& c) {
  return arg_reduce(c, "argmin");
}

}  // namespace ge
