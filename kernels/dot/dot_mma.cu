// dot_mma_f16_sm80, dot_mma_bf16_sm80: out = act(lhs rhs + bias) on tensor cores (mma.sync m16n8k16), float
// sums. Any sizes and strides; 16-byte cp.async where a side's dense axis, its other stride and its address
// are multiples of 8 elements, element loads otherwise. Tiles of 128 x 128; 64 x 64 where those would leave
// multiprocessors idle; where these would too, 32 x 32 and 32 x 16 with the depth split over the warps.
// Stages of depth 32 (128) fill 48 KB of shared memory: 3, 6, 3, 4. 256 threads, two blocks a multiprocessor;
// blocks loop over tiles.
#include <type_traits>

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
    unsigned words[4] = {};
    step = opaque(step);  // its multiples are not worth registers for the whole product
#pragma unroll
    for (int e = 0; e < 8; ++e, from += step)
      if (e < valid) words[e >> 1] |= static_cast<unsigned>(from->bits) << ((e & 1) * 16);
    *reinterpret_cast<uint4*>(to) = {words[0], words[1], words[2], words[3]};
  }
}
__device__ __forceinline__ int clamp_chunk(int64_t left) {
  return left <= 0 ? 0 : left < 8 ? static_cast<int>(left) : 8;
}

// Fills a row tile: lines of the side are the tile's, depth runs along them. A thread's chunks keep their
// place in every step. Steps are fetched in order.
template <class T, int kLines, int kDepth>
struct RowFetcher {
  static constexpr int kAcross = kDepth / 8, kDown = 256 / kAcross, kChunks = kLines / kDown;
  static_assert(kLines % kDown == 0 && kDown % 8 == 0);  // 8: the swizzle repeats
  const T* from[kChunks];                                // null: past the last line
  int64_t step;
  int slot;  // where the first chunk goes; the others stand kDown lines apart
  int left;  // elements from this thread's chunk to the end of the depth
  bool vector;
  __device__ RowFetcher(const MmaSide<T>& side, int64_t line0)
      : step(side.step),
        slot(row_slot<kDepth>(threadIdx.x / kAcross, threadIdx.x % kAcross)),
        left(static_cast<int>(side.length) - static_cast<int>(threadIdx.x % kAcross * 8)),
        vector(side.vector) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int64_t line = line0 + threadIdx.x / kAcross + kDown * i;
      from[i] = line < side.lines ? side.data + line * side.line_step + threadIdx.x % kAcross * 8 * side.step
                                  : nullptr;
    }
  }
  __device__ __forceinline__ void fetch(T* shared) {
    const int valid = clamp_chunk(left);
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      fetch_chunk(shared + slot + kDown * kDepth * i, from[i], step, from[i] != nullptr ? valid : 0, vector);
      if (from[i] != nullptr) from[i] += kDepth * step;
    }
    left -= kDepth;
  }
};

// Fills a depth tile: lines of the side run along columns, one a depth.
template <class T, int kColumns, int kDepth>
struct DepthFetcher {
  static constexpr int kAcross = kColumns / 8, kDown = 256 / kAcross, kChunks = kDepth / kDown;
  static_assert(kDepth % kDown == 0 && kDown % 8 == 0);  // 8: the swizzle repeats
  const T* from;
  int64_t line_step, step;
  int slot;         // where the first chunk goes; the others stand kDown lines below
  int valid, left;  // columns of the chunk; lines from this thread's first one to the end of the depth
  bool vector;
  __device__ DepthFetcher(const MmaSide<T>& side, int64_t column0)
      : line_step(side.line_step),
        step(side.step),
        slot(depth_slot<kColumns>(threadIdx.x / kAcross, threadIdx.x % kAcross)),
        left(static_cast<int>(side.lines) - static_cast<int>(threadIdx.x / kAcross)),
        vector(side.vector) {
    const int64_t column = column0 + threadIdx.x % kAcross * 8;
    valid = column < side.length ? clamp_chunk(side.length - column) : 0;
    from = side.data + (valid > 0 ? column * side.step : 0) + threadIdx.x / kAcross * side.line_step;
  }
  __device__ __forceinline__ void fetch(T* shared) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      fetch_chunk(shared + slot + kDown * kColumns * i, from, step, kDown * i < left ? valid : 0, vector);
      from += kDown * line_step;
    }
    left -= kDepth;
  }
};

// Adds the product of one tile's operands over the depth. Tile: MmaTile or ThinMmaTile, kRows x kColumns.
template <class T, class Tile, int kRows, int kColumns, int kDepth, bool kByColumns, class Right>
__device__ __forceinline__ void multiply_tile(Tile& tile, RowFetcher<T, kRows, kDepth> left, Right right,
                                              int depth, char* shared) {
  constexpr int kLeft = kRows * kDepth, kStage = (kRows + kColumns) * kDepth;  // elements
  constexpr int kStages = kSharedBytes / (kStage * 2);
  static_assert(kStages >= 3 && Tile::kStageBytes <= kSharedBytes);
  T* const memory = reinterpret_cast<T*>(shared);
  const auto fetch = [&](int stage) {
    left.fetch(memory + stage * kStage);
    right.fetch(memory + stage * kStage + kLeft);
  };
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s) {
    if (s * kDepth < depth) fetch(s);
    cp_async_commit();
  }
  const MmaSlots slots = Tile::template slots<kByColumns>();
  int stage = 0;
#pragma unroll 1
  for (int rest = depth; rest > 0; rest -= kDepth) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    if (rest > kDepth * (kStages - 1)) fetch(stage == 0 ? kStages - 1 : stage - 1);
    cp_async_commit();
    tile.template accumulate<kByColumns>(slots, memory + stage * kStage, memory + stage * kStage + kLeft);
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  cp_async_wait<0>();
}

template <class T>
__device__ __forceinline__ bool is_vector(const T* data, int64_t line_step, int64_t step) {
  return step == 1 && line_step % 8 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

// rank: of args.out, made opaque where the count must not stay in registers.
__device__ __forceinline__ int64_t tiles_of(const DotArgs& args, int rank, int rows, int columns) {
  const int m = rank - 2;
  return (args.out.dims[m] + rows - 1) / rows * ((args.out.dims[m + 1] + columns - 1) / columns) *
         count_of(args.out.dims, m);
}

// Where a tile stands. Neighbouring blocks share columns: the right side is read once into the second-level
// cache.
template <int kRows, int kColumns>
struct DotPlace {
  int64_t row0, column0, batch;
  __device__ DotPlace(const DotArgs& args, int64_t item) : batch(item) {
    const int m = args.out.rank - 2;
    row0 = split(batch, (args.out.dims[m] + kRows - 1) / kRows) * kRows;
    column0 = split(batch, (args.out.dims[m + 1] + kColumns - 1) / kColumns) * kColumns;
  }
};

template <class T, class Tile, int kRows, int kColumns, int kDepth>
__device__ __forceinline__ void multiply_operands(const DotArgs& args, int64_t item, Tile& tile,
                                                  char* shared) {
  const int m = args.out.rank - 2, n = m + 1;
  const int64_t rows = args.out.dims[m], columns = args.out.dims[n], depth = args.lhs.dims[n];
  const DotPlace<kRows, kColumns> place(args, item);
  const DotBatch batch(args, place.batch);
  MmaSide<T> lhs{
      pointer_to<T>(args.lhs, batch.lhs), args.lhs.strides[m], args.lhs.strides[n], rows, depth, false};
  lhs.vector = is_vector(lhs.data, lhs.line_step, lhs.step);
  MmaSide<T> rhs{
      pointer_to<T>(args.rhs, batch.rhs), args.rhs.strides[n], args.rhs.strides[m], columns, depth, false};
  const bool by_depth = args.rhs.strides[n] == 1 && columns > 1;
  if (by_depth) rhs = {rhs.data, args.rhs.strides[m], 1, depth, columns, false};
  rhs.vector = is_vector(rhs.data, rhs.line_step, rhs.step);
  const RowFetcher<T, kRows, kDepth> left(lhs, place.row0);
  if (by_depth) {
    multiply_tile<T, Tile, kRows, kColumns, kDepth, false>(
        tile, left, DepthFetcher<T, kColumns, kDepth>(rhs, place.column0), static_cast<int>(depth), shared);
  } else {
    multiply_tile<T, Tile, kRows, kColumns, kDepth, true>(
        tile, left, RowFetcher<T, kColumns, kDepth>(rhs, place.column0), static_cast<int>(depth), shared);
  }
}

// Two blocks a multiprocessor leave 128 registers a thread: across the product nothing lives but the sums,
// the fetchers and `item`; the tile's place is worked out again for the epilogue.
template <class T, class Tile, int kRows, int kColumns, int kDepth>
__device__ __forceinline__ void dot_mma_tiles(const DotArgs& args, char* shared) {
  // Tiles of 128 rows that hold over 64: 2^32 of them would be half a terabyte.
  using Item = std::conditional_t<(kRows >= 128), unsigned, int64_t>;
#pragma unroll 1
  for (Item item = blockIdx.x; item < tiles_of(args, opaque(args.out.rank), kRows, kColumns);
       item += gridDim.x) {
    Tile tile;
    tile.clear();
    multiply_operands<T, Tile, kRows, kColumns, kDepth>(args, item, tile, shared);
    const DotPlace<kRows, kColumns> place(args, opaque(item));
    const DotBatch batch(args, place.batch);
    tile.write_all(reinterpret_cast<float*>(shared), [&](int row, int column, float value) {
      finish_dot<T>(args, batch, place.row0 + row, place.column0 + column, value);
    });
  }
}

// Fewer tiles than this leave multiprocessors of a large GPU idle.
inline constexpr int64_t kEnoughTiles = 120;

template <class T>
__device__ __forceinline__ void dot_mma(const DotArgs& args) {
  __shared__ __align__(128) char shared[kSharedBytes];
  if (blockDim.x != 256) return;
  const int rank = args.out.rank;
  if (args.out.dims[rank - 2] > 64 && tiles_of(args, opaque(rank), 128, 128) >= kEnoughTiles) {
    dot_mma_tiles<T, MmaTile<T, 128, 128>, 128, 128, kMmaDepth>(args, shared);
  } else if (tiles_of(args, opaque(rank), 64, 64) >= kEnoughTiles) {
    dot_mma_tiles<T, MmaTile<T, 64, 64>, 64, 64, kMmaDepth>(args, shared);
  } else if (tiles_of(args, opaque(rank), 32, 32) >= kEnoughTiles) {
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
