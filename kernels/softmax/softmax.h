// softmax: y = exp(x - max) / sum(exp(x - max)) along one axis; log_softmax: y = x - max - log(sum(exp(x -
// max))). Entry: SoftmaxArgs, softmax_reference, log_softmax_reference. A row that is all -inf, or holds NaN
// or +inf, gives NaN: ONNX's own formula, -inf - -inf.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct SoftmaxArgs {
  TensorView x, y;  // equal dims and real dtype; y may be x
  int64_t axis = 0;
};
static_assert(offsetof(SoftmaxArgs, y) == 144 && offsetof(SoftmaxArgs, axis) == 288);

}  // namespace ge::kernels
