// dot_mma_f16_sm80, dot_mma_bf16_sm80: out = act(lhs rhs + bias) on tensor cores (mma.sync m16n8k16), float sums.
// Any sizes and strides; 16-byte cp.async where a side's dense axis, its other stride and its address are multiples of 8
// elements, element loads otherwise. Tiles of 128 x 128, or 64 x 64 where those would leave multiprocessors idle; three stages of
// depth 32 in 48 KB of shared memory (24 KB). 256 threads; blocks loop over tiles.
#include "kernels/device/mma_tile.cuh"
#include "kernels/dot/dot_device.cuh"

namespace ge::kernels {

inline constexpr int kStages = 3;

// One side of the product as `lines` dense or strided runs along depth (or, for a depth tile, along columns).
template <class T>
struct MmaSide {
  const T* data;
  int64_t line_step, step;  // element strides between lines and along one
  int64_t lines, length;
  bool vector;              // chunks of 8 can be copied whole
};

// Fills kLines x kChunks chunks of 8 elements; slot(line, chunk) is their place.
template <class T, int kLines, int kChunks, class Slot>
__device__ __forceinline__ void fetch_side(T* shared, const MmaSide<T>& side, int64_t line0, int64_t position0, Slot slot) {
#pragma unroll 1
  for (int i = threadIdx.x; i < kLines * kChunks; i += 256) {
    const int line = i / kChunks, chunk = i % kChunks;
    const int64_t position = position0 + chunk * 8, left = side.length - position;
    const int valid = line0 + line < side.lines && left > 0 ? (left < 8 ? static_cast<int>(left) : 8) : 0;
    const T* from = side.data + (valid > 0 ? (line0 + line) * side.line_step + position * side.step : 0);
    T* to = shared + slot(line, chunk);
    if (side.vector) {
      cp_async_16(to, from, valid * 2);
    } else {
#pragma unroll
      for (int e = 0; e < 8; ++e) to[e] = e < valid ? from[e * side.step] : T{0};
    }
  }
}

template <class T, int kTile, bool kByColumns>
__device__ __forceinline__ void dot_mma_tile(const DotArgs& args, const DotBatch& batch, const MmaSide<T>& lhs, const MmaSide<T>& rhs,
                                             int64_t depth, int64_t row0, int64_t column0, char* shared) {
  constexpr int kSide = kTile * kMmaDepth;  // elements of one side's stage
  T* const a = reinterpret_cast<T*>(shared);
  T* const b = a + kStages * kSide;
  const auto fetch = [&](int64_t step) {
    const int64_t d = step * kMmaDepth;
    const int stage = static_cast<int>(step % kStages);
    fetch_side<T, kTile, 4>(a + stage * kSide, lhs, row0, d, [](int line, int chunk) { return row_slot(line, chunk); });
    if constexpr (kByColumns) {
      fetch_side<T, kTile, 4>(b + stage * kSide, rhs, column0, d, [](int line, int chunk) { return row_slot(line, chunk); });
    } else {
      fetch_side<T, kMmaDepth, kTile / 8>(b + stage * kSide, rhs, d, column0, [](int line, int chunk) { return depth_slot<kTile>(line, chunk); });
    }
  };
  MmaTile<T, kTile, kTile> tile;
  tile.clear();
  const int64_t steps = (depth + kMmaDepth - 1) / kMmaDepth;
  for (int64_t s = 0; s < kStages - 1; ++s) {
    if (s < steps) fetch(s);
    cp_async_commit();
  }
  for (int64_t s = 0; s < steps; ++s) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    if (s + kStages - 1 < steps) fetch(s + kStages - 1);
    cp_async_commit();
    const int stage = static_cast<int>(s % kStages);
    tile.template accumulate<kByColumns>(a + stage * kSide, b + stage * kSide);
  }
  cp_async_wait<0>();
  tile.write_all(reinterpret_cast<float*>(shared),
                 [&](int row, int column, float value) { finish_dot<T>(args, batch, row0 + row, column0 + column, value); });
}

template <class T>
__device__ __forceinline__ bool is_vector(const T* data, int64_t line_step, int64_t step) {
  return step == 1 && line_step % 8 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

template <class T, int kTile>
__device__ __forceinline__ void dot_mma_tiles(const DotArgs& args, char* shared) {
  const int m = args.out.rank - 2, n = m + 1;
  const int64_t rows = args.out.dims[m], columns = args.out.dims[n], depth = args.lhs.dims[n];
  const int64_t row_tiles = (rows + kTile - 1) / kTile, column_tiles = (columns + kTile - 1) / kTile;
  const int64_t tiles = row_tiles * column_tiles * count_of(args.out.dims, m);
  const bool by_depth = args.rhs.strides[n] == 1 && columns > 1;
  for (int64_t item = blockIdx.x; item < tiles; item += gridDim.x) {
    int64_t rest = item;
    // Neighbouring blocks share columns: the right side is read once into the second-level cache.
    const int64_t row0 = split(rest, row_tiles) * kTile, column0 = split(rest, column_tiles) * kTile;
    const DotBatch batch(args, rest);
    MmaSide<T> lhs{pointer_to<T>(args.lhs, batch.lhs), args.lhs.strides[m], args.lhs.strides[n], rows, depth, false};
    lhs.vector = is_vector(lhs.data, lhs.line_step, lhs.step);
    MmaSide<T> rhs{pointer_to<T>(args.rhs, batch.rhs), args.rhs.strides[n], args.rhs.strides[m], columns, depth, false};
    if (by_depth) rhs = {rhs.data, args.rhs.strides[m], 1, depth, columns, false};
    rhs.vector = is_vector(rhs.data, rhs.line_step, rhs.step);
    if (by_depth) dot_mma_tile<T, kTile, false>(args, batch, lhs, rhs, depth, row0, column0, shared);
    else dot_mma_tile<T, kTile, true>(args, batch, lhs, rhs, depth, row0, column0, shared);
  }
}

template <class T>
__device__ __forceinline__ void dot_mma(const DotArgs& args) {
  __shared__ __align__(128) char shared[kStages * 2 * 128 * kMmaDepth * 2];
  static_assert(MmaTile<T, 128, 128>::kStageBytes <= sizeof shared);
  if (blockDim.x != 256) return;
  const int m = args.out.rank - 2;
  const int64_t large = ((args.out.dims[m] + 127) / 128) * ((args.out.dims[m + 1] + 127) / 128) * count_of(args.out.dims, m);
  if (large >= 120 && args.out.dims[m] > 64) dot_mma_tiles<T, 128>(args, shared);
  else dot_mma_tiles<T, 64>(args, shared);
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256) ge_dot_mma_f16(const __grid_constant__ ge::kernels::DotArgs args) {
  ge::kernels::dot_mma<ge::kernels::Half>(args);
}
extern "C" __global__ void __launch_bounds__(256) ge_dot_mma_bf16(const __grid_constant__ ge::kernels::DotArgs args) {
  ge::kernels::dot_mma<ge::kernels::BHalf>(args);
}
