// map: out[i] = op(a[i], b[i], c[i]) for one scalar op. Entry: MapArgs, map_reference.
// All operands have out's dims (a broadcast axis has stride 0); dtypes as scalar_ops.def says.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct MapArgs {
  TensorView a, b, c, out;  // b, c: absent where the op's arity is below 2, 3
  int64_t op = 0;           // ScalarOp code
};
static_assert(offsetof(MapArgs, out) == 3 * sizeof(TensorView) &&
              offsetof(MapArgs, op) == 4 * sizeof(TensorView));

}  // namespace ge::kernels
