// cast: out[i] = in[i] as another element type. Entry: CastArgs, cast_reference.
// Rules (numeric/convert.h): float to integer truncates and saturates, NaN gives 0; integers wrap; to bool:
// value != 0.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct CastArgs {
  TensorView in, out;  // equal dims
};
static_assert(offsetof(CastArgs, out) == 144 && sizeof(CastArgs) == 288);

}  // namespace ge::kernels
