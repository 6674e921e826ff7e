// What the fused kernels of attention take, for the compiler to know beforehand. Entry: kMaxMmaHead.
#pragma once
#include <cstdint>

namespace ge::kernels {

// Largest head size (of q and k, and of v) of attention_mma_*: a head's row of results stays in registers.
inline constexpr int64_t kMaxMmaHead = 128;

}  // namespace ge::kernels
