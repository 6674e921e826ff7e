// normalize over the trailing axes [axis, rank): layer norm y = (x - mean) * inv_std * scale + bias, inv_std
// = 1 / sqrt(mean((x - mean)^2) + epsilon); rms norm the same with mean = 0. Entry: NormalizeArgs,
// normalize_reference.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

enum class NormalizeKind : int64_t { kLayer = 0, kRms };

struct NormalizeArgs {
  TensorView x, scale, bias,
      y;  // equal dims (scale and bias broadcast by stride 0) and real dtype; scale, bias optional
  TensorView mean, inv_std;  // optional outputs: x's dims with 1 on the normalized axes, any real dtype
  int64_t axis = 0;
  int64_t kind = 0;  // NormalizeKind
  double epsilon = 0;
};
static_assert(offsetof(NormalizeArgs, axis) == 6 * 144 && offsetof(NormalizeArgs, epsilon) == 6 * 144 + 16);

}  // namespace ge::kernels
