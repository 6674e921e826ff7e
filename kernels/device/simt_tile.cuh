// A block's tile of a matrix product in float on the ordinary cores: 32 x 32 results of 256 threads. The
// eight warps take the depth by turns, 8 steps each, 8 x 4 results a thread, and their sums are added in the
// warps' order: small products, which are all latency, end several times sooner than by one walk through the
// depth. Entry: simt_product. The source gives elements, so any layout and any gather will do:
//   Column column(int64_t c)             what to remember of a column (or nothing)
//   float left(int64_t row, int64_t d)   0 outside; float right(int64_t d, const Column&), 0 outside
//   void write(row, c, float)            nothing outside; adds what the epilogue adds
// 36 KiB of shared memory.
#pragma once
#include <cstdint>

namespace ge::kernels {

inline constexpr int kSimtTile = 32, kSimtDepth = 8, kSimtWarps = 8;

union SimtShared {
  struct {
    float left[kSimtDepth][kSimtTile + 4], right[kSimtDepth][kSimtTile + 4];
  } step[kSimtWarps];
  float sums[kSimtWarps][kSimtTile][kSimtTile + 4];
};

template <class Source>
__device__ __forceinline__ void simt_product(const Source& source, int64_t row0, int64_t column0,
                                             int64_t depth, SimtShared& shared) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, tx = lane & 7, ty = lane >> 3;
  auto& step = shared.step[warp];
  // Loading: a thread brings rows lane/8 + 4 i at depth lane%8, and its column at all depths of a step.
  const auto column = source.column(column0 + lane);
  float acc[8][4] = {}, next_left[8], next_right[kSimtDepth];
  const auto fetch = [&](int64_t d0) {
#pragma unroll
    for (int i = 0; i < 8; ++i) next_left[i] = source.left(row0 + (lane >> 3) + 4 * i, d0 + (lane & 7));
#pragma unroll
    for (int i = 0; i < kSimtDepth; ++i) next_right[i] = source.right(d0 + i, column);
  };
  constexpr int kStride = kSimtDepth * kSimtWarps;
  int64_t d0 = warp * kSimtDepth;
  if (d0 < depth) fetch(d0);
  for (; d0 < depth; d0 += kStride) {
#pragma unroll
    for (int i = 0; i < 8; ++i) step.left[lane & 7][(lane >> 3) + 4 * i] = next_left[i];
#pragma unroll
    for (int i = 0; i < kSimtDepth; ++i) step.right[i][lane] = next_right[i];
    __syncwarp();
    if (d0 + kStride < depth) fetch(d0 + kStride);
#pragma unroll
    for (int k = 0; k < kSimtDepth; ++k) {
      const float4 a = *reinterpret_cast<const float4*>(&step.left[k][ty * 8]),
                   c = *reinterpret_cast<const float4*>(&step.left[k][ty * 8 + 4]),
                   b = *reinterpret_cast<const float4*>(&step.right[k][tx * 4]);
      const float rows[8] = {a.x, a.y, a.z, a.w, c.x, c.y, c.z, c.w}, columns[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += rows[i] * columns[j];
      }
    }
    __syncwarp();
  }
  __syncthreads();  // the sums take the place of the steps
#pragma unroll
  for (int i = 0; i < 8; ++i)
    *reinterpret_cast<float4*>(&shared.sums[warp][ty * 8 + i][tx * 4]) =
        make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
  __syncthreads();
#pragma unroll 2
  for (int i = 0; i < kSimtTile * kSimtTile / 256; ++i) {
    const int row = warp + 8 * i;
    float sum = shared.sums[0][row][lane];
#pragma unroll
    for (int w = 1; w < kSimtWarps; ++w) sum += shared.sums[w][row][lane];
    source.write(row0 + row, column0 + lane, sum);
  }
  __syncthreads();  // the next tile's steps take the place of the sums
}

}  // namespace ge::kernels
