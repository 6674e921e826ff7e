// copy: out[i] = in[i], same type, any strides on both sides. Entry: CopyArgs, copy_reference,
// copy_strided_cpu. This is transpose, slice, expand, concat and flip: the views are the maps.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct CopyArgs {
  TensorView in, out;  // equal dims and dtype; their bytes do not overlap
};

}  // namespace ge::kernels
