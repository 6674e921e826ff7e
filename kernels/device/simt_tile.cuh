// A block's tile of a matrix product in float on the ordinary cores: 64 x 64 results of 256 threads, 4 x 4
// each, depth in steps of 16. Entry: simt_product. The source gives elements, so any layout and any gather
// will do:
//   Column column(int64_t c)             what to remember of a column (or nothing)
//   float left(int64_t row, int64_t d)   0 outside; float right(int64_t d, const Column&); void write(row, c,
//   float)
//   bool has_residual()                  float residual(row, c) is added before write; 0 outside
#pragma once
#include <cstdint>

namespace ge::kernels {

inline constexpr int kSimtTile = 64, kSimtDepth = 16;

struct SimtShared {
  float left[kSimtDepth][kSimtTile + 4];
  float right[kSimtDepth][kSimtTile + 4];
};

template <class Source>
__device__ __forceinline__ void simt_product(const Source& source, int64_t row0, int64_t column0,
                                             int64_t depth, SimtShared& shared) {
  const int thread = threadIdx.x, tx = thread & 15, ty = thread >> 4;
  // Loading: a thread brings rows thread/16 + 16 i at depth thread%16, and its column thread%64 at depths
  // thread/64 + 4 i.
  const auto column = source.column(column0 + (thread & 63));
  float acc[4][4] = {}, next_left[4], next_right[4];
  const auto fetch = [&](int64_t d0) {
#pragma unroll
    for (int i = 0; i < 4; ++i) next_left[i] = source.left(row0 + (thread >> 4) + 16 * i, d0 + (thread & 15));
#pragma unroll
    for (int i = 0; i < 4; ++i) next_right[i] = source.right(d0 + (thread >> 6) + 4 * i, column);
  };
  fetch(0);
  for (int64_t d0 = 0; d0 < depth; d0 += kSimtDepth) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      shared.left[thread & 15][(thread >> 4) + 16 * i] = next_left[i];
      shared.right[(thread >> 6) + 4 * i][thread & 63] = next_right[i];
    }
    __syncthreads();
    if (d0 + kSimtDepth < depth) fetch(d0 + kSimtDepth);
#pragma unroll
    for (int k = 0; k < kSimtDepth; ++k) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        a[i] = shared.left[k][ty * 4 + i];
        b[i] = shared.right[k][tx + 16 * i];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
  if (source.has_residual()) {  // a pass of its own: together with the rest of the epilogue it would need a
                                // stack
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) acc[i][j] += source.residual(row0 + ty * 4 + i, column0 + tx + 16 * j);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) source.write(row0 + ty * 4 + i, column0 + tx + 16 * j, acc[i][j]);
  }
}

}  // namespace ge::kernels
