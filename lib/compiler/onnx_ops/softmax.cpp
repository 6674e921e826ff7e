// Softmax and LogSoftmax: kept whole as core ops.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

Results along_axis(OpContext& c, Op op) {
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  if (c.failed()) return kNone;
  return c.build().op(op, {x}, {{"axis", axis}});
}

}  // namespace

Results lower_softmax(OpContext& c) {
  return along_axis(c, Op::softmax);
}
Results lower_log_softmax(OpContext& c) {
  return along_axis(c, Op::log_softmax);
}

}  // namespace ge
