// copy: out[i] = in[i], bit for bit, any strides on both sides. Entry: CopyArgs, copy_reference,
// copy_strided_cpu. This is transpose, slice, expand, concat and flip: the views are the maps. Between dtypes
// of one width it is bitcast.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct CopyArgs {
  TensorView in, out;  // equal dims, dtypes of equal width; their bytes do not overlap
};

}  // namespace ge::kernels
