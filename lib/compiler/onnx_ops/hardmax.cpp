// Hardmax: 1 where the position along the axis is that of the first maximum, else 0.
#include "compiler/onnx_ops/op_context.h"

namespace ge {

Results lower_hardmax(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  if (c.failed()) return kNone;
  Dims along(c.dims(x).size(), Dim(1));
  along[axis] = c.dims(x)[axis];
  const ValueId position = b.op(Op::iota, {}, {{"shape", along}, {"axis", axis}, {"dtype", DType::int64}});
  return b.cast(b.map(Op::equal, {position, b.reduce(x, "argmax", {axis}, true)}), c.dtype(x));
}

}  // namespace ge
