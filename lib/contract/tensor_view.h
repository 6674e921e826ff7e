// The one description of a tensor in memory that kernels receive. Entry: TensorView.
// Invariant: plain data, same layout on host and device (offsets asserted below); NVRTC text repeats it from
// kernels/device.
#pragma once
#include <cstddef>
#include <cstdint>

#include "numeric/dtype.h"

namespace ge {

inline constexpr int kMaxRank = 8;

// `data` points at element (0,...,0); strides are in elements, may be 0 (broadcast) or negative (reversed
// slice). Axes at and above `rank` hold dims 1 and strides 0, so kernels may loop over all eight.
struct TensorView {
  void* data = nullptr;
  int64_t dims[kMaxRank] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t strides[kMaxRank] = {};
  int32_t rank = 0;
  DType dtype = DType::float32;
  uint8_t reserved[3] = {};
};
static_assert(sizeof(TensorView) == 144 && offsetof(TensorView, dims) == 8 &&
              offsetof(TensorView, strides) == 72 && offsetof(TensorView, rank) == 136 &&
              offsetof(TensorView, dtype) == 140);

inline int64_t element_count(const TensorView& v) {
  int64_t n = 1;
  for (int i = 0; i < v.rank; ++i) n *= v.dims[i];
  return n;
}
// Dense row-major (axes of extent 1 may have any stride).
inline bool is_contiguous(const TensorView& v) {
  int64_t expected = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    if (v.dims[i] != 1 && v.strides[i] != expected) return false;
    expected *= v.dims[i];
  }
  return true;
}

}  // namespace ge
