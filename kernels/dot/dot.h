// dot: out[..., m, n] = act(sum_k lhs[..., m, k] * rhs[..., k, n] + bias[..., m, n] + residual[..., m, n]).
// Entry: DotArgs; rows dot_*. All ranks equal, 2..8; the leading axes are batch axes with out's extents
// (broadcast by stride 0); transposes are strides. Integers wrap; real types accumulate in double
// (reference), float32 or more (all others).
#pragma once
#include "contract/tensor_view.h"
#include "kernels/common/activation_args.h"

namespace ge::kernels {

struct DotArgs {
  TensorView lhs, rhs, bias, out;  // bias: out's dims, optional
  Activation activation;
  TensorView residual;  // out's dims, optional
};
static_assert(offsetof(DotArgs, activation) == 4 * 144 && offsetof(DotArgs, residual) == 600 &&
              sizeof(DotArgs) == 744);

}  // namespace ge::kernels
