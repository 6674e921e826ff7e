// What the fused kernels of attention take, for the compiler to know beforehand. Entry: kMaxMmaHead.
#pragma once
#include <cstdint>

namespace ge::kernels {

// Largest head size (of q and k, and of v) of a fused CUDA kernel; 0: there is none.
inline constexpr int64_t kMaxMmaHead = 0;

}  // namespace ge::kernels
