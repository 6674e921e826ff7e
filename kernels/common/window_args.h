// Sliding windows of conv and pool along 1 to 3 spatial axes, as they stand in argument structs. Entry:
// Window. Position o of an output axis reads input positions o * stride - pad_begin + k * dilation, k in [0,
// kernel).
#pragma once
#include <cstddef>
#include <cstdint>

namespace ge::kernels {

inline constexpr int kMaxSpatial = 3;

struct Window {
  int64_t strides[kMaxSpatial] = {};
  int64_t dilations[kMaxSpatial] = {};
  int64_t pads_begin[kMaxSpatial] = {};
};
static_assert(sizeof(Window) == 72 && offsetof(Window, dilations) == 24 &&
              offsetof(Window, pads_begin) == 48);

}  // namespace ge::kernels
