// A block's tile of a matrix product on tensor cores: kRows x kColumns results of 256 threads, depth in steps of 32, operands in
// shared memory as 16-bit types, sums in float. Entry: MmaTile. 8 warps stand 2 x 4; each holds kRows/2 x kColumns/4 results.
// Shared layouts are swizzled so that neither the 16-byte stores nor ldmatrix meet bank conflicts:
//   row tile    [rows][32]: element (r, d) in chunk d/8 ^ (r/2 & 3) of row r; for the left side, and the right side by columns
//   depth tile  [32][kColumns]: element (d, c) in chunk c/8 ^ (d & 7) of row d; for the right side by depth
#pragma once
#include "kernels/device/ptx.cuh"

namespace ge::kernels {

inline constexpr int kMmaDepth = 32;

__device__ __forceinline__ int row_slot(int row, int chunk) { return row * kMmaDepth + ((chunk ^ ((row >> 1) & 3)) << 3); }
template <int kColumns>
__device__ __forceinline__ int depth_slot(int depth, int chunk) {
  return depth * kColumns + ((chunk ^ (depth & 7)) << 3);
}

template <class T, int kRows, int kColumns>
struct MmaTile {
  static constexpr int kWarpRows = kRows / 2, kWarpColumns = kColumns / 4;
  static constexpr int kRowSteps = kWarpRows / 16, kColumnSteps = kWarpColumns / 8;
  static constexpr int kStageStride = kColumns + 4;  // floats between rows of staged results
  static constexpr int kStageBytes = kRows / 2 * kStageStride * 4;
  static_assert(kRowSteps >= 1 && kColumnSteps % 2 == 0);
  float acc[kRowSteps][kColumnSteps][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kColumnSteps; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) acc[i][j][e] = 0;
      }
    }
  }

  // Adds one depth step. kByColumns: b is a row tile of columns; else a depth tile.
  template <bool kByColumns>
  __device__ __forceinline__ void accumulate(const T* a, const T* b) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int row0 = (warp >> 2) * kWarpRows, column0 = (warp & 3) * kWarpColumns;
#pragma unroll
    for (int step = 0; step < kMmaDepth / 16; ++step) {
      unsigned fa[kRowSteps][4], fb[kColumnSteps / 2][4];
#pragma unroll
      for (int i = 0; i < kRowSteps; ++i) ldmatrix_x4(fa[i], a + row_slot(row0 + i * 16 + (lane & 15), step * 2 + (lane >> 4)));
#pragma unroll
      for (int j = 0; j < kColumnSteps / 2; ++j) {
        if constexpr (kByColumns) {
          ldmatrix_x4(fb[j], b + row_slot(column0 + j * 16 + (lane & 7) + ((lane >> 4) << 3), step * 2 + ((lane >> 3) & 1)));
        } else {
          ldmatrix_x4_trans(fb[j], b + depth_slot<kColumns>(step * 16 + (lane & 15), (column0 >> 3) + j * 2 + (lane >> 4)));
        }
      }
#pragma unroll
      for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
        for (int j = 0; j < kColumnSteps; ++j) mma_m16n8k16<T>(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
      }
    }
  }

  // Calls write(row, column, value) for every result, neighbouring threads at neighbouring columns, through kStageBytes of
  // shared memory, half of the rows at a time.
  template <class F>
  __device__ __forceinline__ void write_all(float* stage, F&& write) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int half = 0; half < 2; ++half) {
      __syncthreads();
      if ((warp >> 2) == half) {
        const int column0 = (warp & 3) * kWarpColumns + (lane & 3) * 2;
#pragma unroll
        for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
          for (int j = 0; j < kColumnSteps; ++j) {
            float* at = stage + (i * 16 + (lane >> 2)) * kStageStride + column0 + j * 8;
            at[0] = acc[i][j][0];
            at[1] = acc[i][j][1];
            at[8 * kStageStride] = acc[i][j][2];
            at[8 * kStageStride + 1] = acc[i][j][3];
          }
        }
      }
      __syncthreads();
#pragma unroll 1
      for (int i = threadIdx.x; i < kRows / 2 * kColumns; i += 256) {
        const int row = i / kColumns, column = i % kColumns;
        write(half * (kRows / 2) + row, column, stage[row * kStageStride + column]);
      }
    }
    __syncthreads();
  }
};

}  // namespace ge::kernels
