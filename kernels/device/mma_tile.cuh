// A block's tile of a matrix product on tensor cores: kRows x kColumns results of 256 threads, operands in
// shared memory as 16-bit types, sums in float. Entry: MmaTile (warps share the results), ThinMmaTile (warps
// share the depth). Shared layouts are swizzled so that neither the 16-byte stores nor ldmatrix meet bank
// conflicts:
//   row tile    [rows][kDepth]: for the left side, and the right side by columns
//   depth tile  [kDepth][kColumns]: for the right side by depth
#pragma once
#include "kernels/device/index.cuh"
#include "kernels/device/ptx.cuh"

namespace ge::kernels {

inline constexpr int kMmaDepth = 32, kThinDepth = 128;

// Element offset of chunk `chunk` (8 elements) of a row; neighbouring rows that fall on the same banks
// permute their chunks.
template <int kDepth = kMmaDepth>
__device__ __forceinline__ int row_slot(int row, int chunk) {
  static_assert(kDepth == 32 || kDepth >= 64);
  return row * kDepth + ((chunk ^ (kDepth >= 64 ? row & 7 : (row >> 1) & 3)) << 3);
}
template <int kColumns>
__device__ __forceinline__ int depth_slot(int depth, int chunk) {
  static_assert(kColumns == 16 || kColumns == 32 || kColumns >= 64);
  return depth * kColumns + ((chunk ^ (kColumns >= 64   ? depth & 7
                                       : kColumns == 32 ? (depth >> 1) & 3
                                                        : (depth >> 2) & 1))
                             << 3);
}

// Where this lane's ldmatrix addresses of a warp's first fragments stand, from which all others of its tile
// follow by constants: 16 rows further is an addition, 16 of the depth (of the columns in a depth tile) an
// exclusive or, because the swizzle repeats every 8 rows and warps begin at multiples of what they hold.
struct MmaSlots {
  int left, right;
};
template <int kDepth>
__device__ __forceinline__ int left_slot(int lane, int row) {
  return row_slot<kDepth>(row + (lane & 15), lane >> 4);
}
template <int kColumns, int kDepth, bool kByColumns>
__device__ __forceinline__ int right_slot(int lane, int step, int column) {
  if constexpr (kByColumns)
    return row_slot<kDepth>(column + (lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1) ^ (step << 4);
  else
    return depth_slot<kColumns>(step * 16 + (lane & 15), (column >> 3) + (lane >> 4));
}
// A step of 16 of the left side for the 16 rows number i of a warp.
template <class T, int kDepth>
__device__ __forceinline__ void load_left(unsigned (&f)[4], const T* a, int slot, int step, int i) {
  ldmatrix_x4(f, a + ((slot ^ (step << 4)) + i * 16 * kDepth));
}
// A step of 16 of the right side for the 16 columns number j of a warp: two 8-column blocks, two registers
// each.
template <class T, int kColumns, int kDepth, bool kByColumns>
__device__ __forceinline__ void load_right(unsigned (&f)[4], const T* b, int slot, int step, int j) {
  if constexpr (kByColumns)
    ldmatrix_x4(f, b + ((slot ^ (step << 4)) + j * 16 * kDepth));
  else
    ldmatrix_x4_trans(f, b + ((slot ^ (j << 4)) + step * 16 * kColumns));
}

template <class T, int kRows, int kColumns, int kWarpsDown = 2>
struct MmaTile {
  static constexpr int kWarpsAcross = 8 / kWarpsDown;
  static constexpr int kWarpRows = kRows / kWarpsDown, kWarpColumns = kColumns / kWarpsAcross;
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

  // For accumulate, once a product.
  template <bool kByColumns>
  static __device__ __forceinline__ MmaSlots slots() {
    const int thread = opaque(static_cast<int>(threadIdx.x)), lane = thread & 31, warp = thread >> 5;
    return {left_slot<kMmaDepth>(lane, warp / kWarpsAcross * kWarpRows),
            right_slot<kColumns, kMmaDepth, kByColumns>(lane, 0, warp % kWarpsAcross * kWarpColumns)};
  }

  // Adds one depth step. kByColumns: b is a row tile of columns; else a depth tile.
  template <bool kByColumns>
  __device__ __forceinline__ void accumulate(const MmaSlots& slots, const T* a, const T* b) {
#pragma unroll
    for (int step = 0; step < kMmaDepth / 16; ++step) {
      unsigned fb[kColumnSteps / 2][4];
#pragma unroll
      for (int j = 0; j < kColumnSteps / 2; ++j)
        load_right<T, kColumns, kMmaDepth, kByColumns>(fb[j], b, slots.right, step, j);
#pragma unroll
      for (int i = 0; i < kRowSteps; ++i) {
        unsigned
            fa[4];  // few live registers: two blocks a multiprocessor are worth more than loads far ahead
        load_left<T, kMmaDepth>(fa, a, slots.left, step, i);
#pragma unroll
        for (int j = 0; j < kColumnSteps; ++j)
          mma_m16n8k16<T>(acc[i][j], fa, fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
      }
    }
  }

  // Puts half of the rows into shared memory, row r of them at stage + r * kStageStride.
  __device__ __forceinline__ void put_half(float* stage, int half) const {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int warp_row = warp / kWarpsAcross * kWarpRows - half * (kRows / 2);
    if (warp_row < 0 || warp_row >= kRows / 2) return;
    const int column0 = warp % kWarpsAcross * kWarpColumns + (lane & 3) * 2;
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kColumnSteps; ++j) {
        float* at = stage + (warp_row + i * 16 + (lane >> 2)) * kStageStride + column0 + j * 8;
        at[0] = acc[i][j][0];
        at[1] = acc[i][j][1];
        at[8 * kStageStride] = acc[i][j][2];
        at[8 * kStageStride + 1] = acc[i][j][3];
      }
    }
  }

  // Calls write(row, column, value) for every result, neighbouring threads at neighbouring columns (`down`:
  // rows), through kStageBytes of shared memory, half of the rows at a time.
  template <class F>
  __device__ __forceinline__ void write_all(float* stage, F&& write, bool down = false) const {
    for (int half = 0; half < 2; ++half) {
      __syncthreads();
      put_half(stage, half);
      __syncthreads();
#pragma unroll 1
      for (int i = threadIdx.x; i < kRows / 2 * kColumns; i += 256) {
        const int row = down ? i % (kRows / 2) : i / kColumns, column = down ? i / (kRows / 2) : i % kColumns;
        write(half * (kRows / 2) + row, column, stage[row * kStageStride + column]);
      }
    }
    __syncthreads();
  }
  // The same by eight columns: write(row, column, sums), sums in shared memory for the thread to use.
  template <class F>
  __device__ __forceinline__ void write_chunks(float* stage, F&& write) const {
#pragma unroll 1
    for (int i = threadIdx.x; i < kRows * kColumns / 8; i += 256) {
      const int half = i / (kRows * kColumns / 16), row = i / (kColumns / 8), column = i % (kColumns / 8) * 8;
      if (i % (kRows * kColumns / 16) < 256) {  // every thread enters a half at once
        __syncthreads();
        put_half(stage, half);
        __syncthreads();
      }
      write(row, column, stage + (row - half * (kRows / 2)) * kStageStride + column);
    }
    __syncthreads();
  }
};

// For few rows: every warp holds all results and takes one step of 16 of the depth; partial sums are added in
// the order of the warps. A multiprocessor then pulls few bytes for each result it writes, and many of them
// work on one product.
template <class T, int kRows, int kColumns>
struct ThinMmaTile {
  static constexpr int kRowSteps = kRows / 16, kColumnSteps = kColumns / 8;
  static constexpr int kStageStride = kColumns + 4, kStageBytes = 8 * kRows * kStageStride * 4;
  float acc[kRowSteps][kColumnSteps][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kColumnSteps; ++j) acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0;
    }
  }

  template <bool kByColumns>
  static __device__ __forceinline__ MmaSlots slots() {
    const int thread = opaque(static_cast<int>(threadIdx.x)), lane = thread & 31, step = thread >> 5;
    return {left_slot<kThinDepth>(lane, 0) ^ (step << 4),
            right_slot<kColumns, kThinDepth, kByColumns>(lane, step, 0)};
  }

  template <bool kByColumns>
  __device__ __forceinline__ void accumulate(const MmaSlots& slots, const T* a, const T* b) {
    unsigned fb[kColumnSteps / 2][4];
#pragma unroll
    for (int j = 0; j < kColumnSteps / 2; ++j)
      load_right<T, kColumns, kThinDepth, kByColumns>(fb[j], b, slots.right, 0, j);
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) {
      unsigned fa[4];
      load_left<T, kThinDepth>(fa, a, slots.left, 0, i);
#pragma unroll
      for (int j = 0; j < kColumnSteps; ++j)
        mma_m16n8k16<T>(acc[i][j], fa, fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
    }
  }

  // Adds up the warps' parts: the sum of a row and column stands at stage[row * kStageStride + column] after.
  __device__ __forceinline__ void add_warps(float* stage) const {
    put_all(stage);
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < kRows * kColumns; i += 256) {
      float* const at = stage + i / kColumns * kStageStride + i % kColumns;
      *at = sum_of(at);
    }
    __syncthreads();
  }

  // As MmaTile's.
  template <class F>
  __device__ __forceinline__ void write_all(float* stage, F&& write) const {
    put_all(stage);
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < kRows * kColumns; i += 256) {
      const int row = i / kColumns, column = i % kColumns;
      write(row, column, sum_of(stage + row * kStageStride + column));
    }
    __syncthreads();
  }

 private:
  // Warp w's part goes to rows [w * kRows, (w + 1) * kRows) of the stage.
  __device__ __forceinline__ void put_all(float* stage) const {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kRowSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kColumnSteps; ++j) {
        float* at = stage + (warp * kRows + i * 16 + (lane >> 2)) * kStageStride + j * 8 + (lane & 3) * 2;
        at[0] = acc[i][j][0];
        at[1] = acc[i][j][1];
        at[8 * kStageStride] = acc[i][j][2];
        at[8 * kStageStride + 1] = acc[i][j][3];
      }
    }
  }
  static __device__ __forceinline__ float sum_of(const float* at) {
    float sum = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) sum += at[w * kRows * kStageStride];
    return sum;
  }
};

}  // namespace ge::kernels
