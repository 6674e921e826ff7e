// shape: out[i] = like.dims[i]: size expressions become a tensor. Entry: ShapeArgs, shape_reference.
// `like` is never read; its extents are the numbers.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct ShapeArgs {
  TensorView like, out;  // any; int64 [rank of like]
};
static_assert(offsetof(ShapeArgs, out) == 144 && sizeof(ShapeArgs) == 288);

}  // namespace ge::kernels
