// conv: y[n, m, o...] = act(bias[m] + residual[n, m, o...] + sum_{c, k...} x[n, g * C/groups + c, o * stride
// - pad + k * dilation...] * w[m, c, k...]), g = m / (M / groups). Entry: ConvArgs; rows conv_*. 1 to 3
// spatial axes. Padding is zeros; what an infinite weight over padding gives is not defined. The end pads are
// what y's dims imply.
#pragma once
#include "contract/tensor_view.h"
#include "kernels/common/activation_args.h"
#include "kernels/common/window_args.h"

namespace ge::kernels {

struct ConvArgs {
  TensorView x, w, bias, y;  // [N, C, in...], [M, C/groups, k...], [M] optional, [N, M, out...]
  Window window;
  int64_t groups = 1;
  Activation activation;
  TensorView residual;  // y's dims, optional
};
static_assert(offsetof(ConvArgs, window) == 576 && offsetof(ConvArgs, groups) == 648 &&
              offsetof(ConvArgs, activation) == 656 && offsetof(ConvArgs, residual) == 680 &&
              sizeof(ConvArgs) == 824);

}  // namespace ge::kernels
