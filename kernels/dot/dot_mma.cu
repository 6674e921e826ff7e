// dot_mma_f16_sm80, dot_mma_bf16_sm80: out = act(lhs rhs + bias) on tensor cores (mma.sync m16n8k16), float
// sums. Any sizes and strides; 16-byte cp.async where a side's dense axis, its other stride and its address
// are multiples of 8 elements, element loads otherwise. Tiles of 128 x 128; 64 x 64 where those would leave
// multiprocessors idle; where these would too, 32 x 32 and 32 x 16 with the depth split over the warps.
// Stages of depth 32 (128) fill 48 KB of shared memory: 3, 6, 3, 4. 256 threads, two blocks a multiprocessor;
// blocks loop over tiles.
#include "kernels/device/mma_tile.cuh"
#include "kernels/dot/dot_device.cuh"

namespace ge::kernels {

inline constexpr int kSharedBytes = 48 * 1024;

// One side of the product as `lines` dense or strided runs of `length`.
template <class T>
struct MmaSide {
  const T* data;
  int64_t line_step, step;  // element strides between lines and along one
  int64_t lines, length;
  bool vector;  // chunks of 8 can be copied whole
};

template <class T>
__device__ __forceinline__ void fetch_chunk(T* to, const T* from, int64_t step, int valid, bool vector) {
  if (valid == 0) {
    *reinterpret_cast<uint4*>(to) = {0, 0, 0, 0};
  } else if (vector) {
    cp_async_16(to, from, valid * 2);
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) to[e] = e < valid ? from[e * step] : T{0};
  }
}
__device__ __forceinline__ int clamp_chunk(int64_t left) {
  return left <= 0 ? 0 : left < 8 ? static_cast<int>(left) : 8;
}

// Fills a row tile: lines of the side are the tile's, depth runs along them. A thread's chunks keep their
// place in every step.
template <class T, int kLines, int kDepth>
struct RowFetcher {
  static constexpr int kAcross = kDepth / 8, kDown = 256 / kAcross, kChunks = (kLines + kDown - 1) / kDown;
  const MmaSide<T>& side;
  const T* from[kChunks];
  bool used[kChunks];
  __device__ RowFetcher(const MmaSide<T>& s, int64_t line0) : side(s) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int64_t line = line0 + threadIdx.x / kAcross + kDown * i;
      used[i] = line < side.lines;
      from[i] = side.data + (used[i] ? line * side.line_step : 0) + threadIdx.x % kAcross * 8 * side.step;
    }
  }
  __device__ __forceinline__ void fetch(T* shared, int64_t depth) const {
    const int left = clamp_chunk(side.length - depth - threadIdx.x % kAcross * 8);
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int line = threadIdx.x / kAcross + kDown * i;
      if (kLines % kDown != 0 && line >= kLines) continue;
      fetch_chunk(shared + row_slot<kDepth>(line, threadIdx.x % kAcross), from[i] + depth * side.step,
                  side.step, used[i] ? left : 0, side.vector);
    }
  }
};

// Fills a depth tile: lines of the side run along columns, one a depth.
template <class T, int kColumns, int kDepth>
struct DepthFetcher {
  static constexpr int kAcross = kColumns / 8, kDown = 256 / kAcross, kChunks = (kDepth + kDown - 1) / kDown;
  const MmaSide<T>& side;
  const T* from;
  int valid;
  __device__ DepthFetcher(const MmaSide<T>& s, int64_t column0) : side(s) {
    const int64_t column = column0 + threadIdx.x % kAcross * 8;
    valid = clamp_chunk(side.length - column);
    from = side.data + (valid > 0 ? column * side.step : 0);
  }
  __device__ __forceinline__ void fetch(T* shared, int64_t depth) const {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int line = threadIdx.x / kAcross + kDown * i;
      if (kDepth % kDown != 0 && line >= kDepth) continue;
      fetch_chunk(shared + depth_slot<kColumns>(line, threadIdx.x % kAcross),
                  from + (depth + line) * side.line_step, side.step, depth + line < side.lines ? valid : 0,
                  side.vector);
    }
  }
};

// Tile: MmaTile or ThinMmaTile, kRows x kColumns.
template <class T, class Tile, int kRows, int kColumns, int kDepth, bool kByColumns, class Right>
__device__ __forceinline__ void dot_mma_tile(const DotArgs& args, const DotBatch& batch,
                                             const MmaSide<T>& lhs, const Right& right, int64_t depth,
                                             int64_t row0, int64_t column0, char* shared) {
  constexpr int kLeft = kRows * kDepth, kStage = (kRows + kColumns) * kDepth;  // elements
  constexpr int kStages = kSharedBytes / (kStage * 2);
  static_assert(kStages >= 3 && Tile::kStageBytes <= kSharedBytes);
  T* const memory = reinterpret_cast<T*>(shared);
  const RowFetcher<T, kRows, kDepth> left(lhs, row0);
  const auto fetch = [&](int stage, int64_t d) {
    left.fetch(memory + stage * kStage, d);
    right.fetch(memory + stage * kStage + kLeft, d);
  };
  Tile tile;
  tile.clear();
  int64_t ahead = 0;  // depth of the next fetch
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s, ahead += kDepth) {
    if (ahead < depth) fetch(s, ahead);
    cp_async_commit();
  }
  int stage = 0, next = kStages - 1;
#pragma unroll 1
  for (int64_t d = 0; d < depth; d += kDepth, ahead += kDepth) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    if (ahead < depth) fetch(next, ahead);
    cp_async_commit();
    tile.template accumulate<kByColumns>(memory + stage * kStage, memory + stage * kStage + kLeft);
    stage = stage + 1 == kStages ? 0 : stage + 1;
    next = next + 1 == kStages ? 0 : next + 1;
  }
  cp_async_wait<0>();
  tile.write_all(reinterpret_cast<float*>(shared), [&](int row, int column, float value) {
    finish_dot<T>(args, batch, row0 + row, column0 + column, value);
  });
}

template <class T>
__device__ __forceinline__ bool is_vector(const T* data, int64_t line_step, int64_t step) {
  return step == 1 && line_step % 8 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

__device__ __forceinline__ int64_t tiles_of(const DotArgs& args, int rows, int columns) {
  const int m = args.out.rank - 2;
  return (args.out.dims[m] + rows - 1) / rows * ((args.out.dims[m + 1] + columns - 1) / columns) *
         count_of(args.out.dims, m);
}

template <class T, class Tile, int kRows, int kColumns, int kDepth>
__device__ __forceinline__ void dot_mma_tiles(const DotArgs& args, char* shared) {
  const int m = args.out.rank - 2, n = m + 1;
  const int64_t rows = args.out.dims[m], columns = args.out.dims[n], depth = args.lhs.dims[n];
  const int64_t row_tiles = (rows + kRows - 1) / kRows, column_tiles = (columns + kColumns - 1) / kColumns;
  const bool by_depth = args.rhs.strides[n] == 1 && columns > 1;
#pragma unroll 1
  for (int64_t item = blockIdx.x; item < tiles_of(args, kRows, kColumns); item += gridDim.x) {
    int64_t rest = item;
    // Neighbouring blocks share columns: the right side is read once into the second-level cache.
    const int64_t row0 = split(rest, row_tiles) * kRows, column0 = split(rest, column_tiles) * kColumns;
    const DotBatch batch(args, rest);
    MmaSide<T> lhs{
        pointer_to<T>(args.lhs, batch.lhs), args.lhs.strides[m], args.lhs.strides[n], rows, depth, false};
    lhs.vector = is_vector(lhs.data, lhs.line_step, lhs.step);
    MmaSide<T> rhs{
        pointer_to<T>(args.rhs, batch.rhs), args.rhs.strides[n], args.rhs.strides[m], columns, depth, false};
    if (by_depth) rhs = {rhs.data, args.rhs.strides[m], 1, depth, columns, false};
    rhs.vector = is_vector(rhs.data, rhs.line_step, rhs.step);
    if (by_depth) {
      const DepthFetcher<T, kColumns, kDepth> right(rhs, column0);
      dot_mma_tile<T, Tile, kRows, kColumns, kDepth, false>(args, batch, lhs, right, depth, row0, column0,
                                                            shared);
    } else {
      const RowFetcher<T, kColumns, kDepth> right(rhs, column0);
      dot_mma_tile<T, Tile, kRows, kColumns, kDepth, true>(args, batch, lhs, right, depth, row0, column0,
                                                           shared);
    }
  }
}

// Fewer tiles than this leave multiprocessors of a large GPU idle.
inline constexpr int64_t kEnoughTiles = 120;

template <class T>
__device__ __forceinline__ void dot_mma(const DotArgs& args) {
  __shared__ __align__(128) char shared[kSharedBytes];
  if (blockDim.x != 256) return;
  if (args.out.dims[args.out.rank - 2] > 64 && tiles_of(args, 128, 128) >= kEnoughTiles) {
    dot_mma_tiles<T, MmaTile<T, 128, 128>, 128, 128, kMmaDepth>(args, shared);
  } else if (tiles_of(args, 64, 64) >= kEnoughTiles) {
    dot_mma_tiles<T, MmaTile<T, 64, 64>, 64, 64, kMmaDepth>(args, shared);
  } else if (tiles_of(args, 32, 32) >= kEnoughTiles) {
    dot_mma_tiles<T, ThinMmaTile<T, 32, 32>, 32, 32, kThinDepth>(args, shared);
  } else {
    dot_mma_tiles<T, ThinMmaTile<T, 32, 16>, 32, 16, kThinDepth>(args, shared);
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256, 2)
    ge_dot_mma_f16(const __grid_constant__ ge::kernels::DotArgs args) {
  ge::kernels::dot_mma<ge::kernels::Half>(args);
}
extern "C" __global__ void __launch_bounds__(256, 2)
    ge_dot_mma_bf16(const __grid_constant__ ge::kernels::DotArgs args) {
  ge::kernels::dot_mma<ge::kernels::BHalf>(args);
}
