// What the fused kernels of attention share on a GPU. Entry: AttentionWork, exp2_approx, pack_pair.
#pragma once
#include "kernels/device/element.cuh"

namespace ge::kernels {

inline constexpr float kLog2e = 1.4426950408889634f;

__device__ __forceinline__ float minus_infinity() {
  return -__int_as_float(0x7f800000);
}
__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
template <class T>
__device__ unsigned pack_pair(float low, float high);
template <>
__device__ __forceinline__ unsigned pack_pair<Half>(float low, float high) {
  unsigned r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
template <>
__device__ __forceinline__ unsigned pack_pair<BHalf>(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

// What a tile of queries is: its head, its first row, and which keys its rows see. `length`: keys there are.
struct AttentionWork {
  int batch, head;
  int row0, rows;  // of the head; rows from row0 on
  int keys;        // that the last row sees
  int offset;      // row i sees keys below i + offset, and all of them where nothing is causal
  // Sizes stay in the arguments, where they cost no registers.
  __device__ __forceinline__ AttentionWork(const int64_t& queries, const int64_t& head_count,
                                           const int64_t& key_count, const int64_t& causal, int item,
                                           int tile_rows) {
    const int total = static_cast<int>(queries), length = static_cast<int>(key_count);
    const int tiles = (total + tile_rows - 1) / tile_rows, heads = static_cast<int>(head_count);
    const int tile = item % tiles;
    // Causal rows near the end have the most keys: they come first.
    row0 = (causal != 0 ? tiles - 1 - tile : tile) * tile_rows;
    head = item / tiles % heads;
    batch = item / tiles / heads;
    rows = total - row0 < tile_rows ? total - row0 : tile_rows;
    offset = causal == 0 ? length : causal == 1 ? 1 : 1 + length - total;
    keys = seen_by(causal, row0 + rows - 1, length);
  }
  __device__ __forceinline__ int seen_by(int64_t causal, int row, int length) const {
    const int last = causal == 0 ? length : row + offset;
    return last < 0 ? 0 : last < length ? last : length;
  }
};

}  // namespace ge::kernels
