// A row-major view of memory that starts at `data`. Entry: dense_view.
#pragma once
#include <initializer_list>

#include "contract/tensor_view.h"

namespace ge {

inline TensorView dense_view(void* data, DType dtype, std::initializer_list<int64_t> dims) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  for (const int64_t n : dims) view.dims[view.rank++] = n;
  int64_t stride = 1;
  for (int a = view.rank - 1; a >= 0; --a) {
    view.strides[a] = stride;
    stride *= view.dims[a];
  }
  return view;
}

}  // namespace ge
