// Moves elements of 1, 2, 4 or 8 bytes without knowing their type. Entry: with_size, Sized.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

__device__ __forceinline__ int size_of_element(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::int64:
    case DType::uint64:
      return 8;
    case DType::float32:
    case DType::int32:
    case DType::uint32:
      return 4;
    case DType::float16:
    case DType::bfloat16:
    case DType::int16:
    case DType::uint16:
      return 2;
    default:
      return 1;
  }
}

// Calls body(T{}) with the unsigned type of `dtype`'s size.
template <class F>
__device__ __forceinline__ void with_size(DType dtype, F&& body) {
  switch (size_of_element(dtype)) {
    case 8:
      return body(static_cast<unsigned long long>(0));
    case 4:
      return body(0u);
    case 2:
      return body(static_cast<unsigned short>(0));
    default:
      return body(static_cast<unsigned char>(0));
  }
}

}  // namespace ge::kernels
