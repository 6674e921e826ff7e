// Loads and stores for dtype-erased kernels: everything real in double, everything else in int64. Entry:
// load<T>, store<T>.
#pragma once
#include <type_traits>

#include "contract/tensor_view.h"
#include "numeric/convert.h"

namespace ge::kernels {

template <class T>
T load(const TensorView& view, int64_t offset) {
  if constexpr (std::is_same_v<T, double>) {
    return load_as_double(view.dtype, view.data, offset);
  } else {
    return load_as_int64(view.dtype, view.data, offset);
  }
}
inline void store(const TensorView& view, int64_t offset, double value) {
  store_from_double(view.dtype, view.data, offset, value);
}
inline void store(const TensorView& view, int64_t offset, int64_t value) {
  store_from_int64(view.dtype, view.data, offset, value);
}

// int64 arithmetic that wraps, as every integer op of ge does.
inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// a < b, where uint64 values travel as their bits.
inline bool less_as(DType dtype, int64_t a, int64_t b) {
  return dtype == DType::uint64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

}  // namespace ge::kernels
