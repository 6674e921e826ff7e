// conv_nhwc_f16_sm80, conv_nhwc_bf16_sm80, conv_nhwc_f32_sm80: convolution of tensors whose channels stand
// side by side, as a product of gathered positions with the weights, on tensor cores (mma.sync m16n8k16) with
// float sums, or of float32 on the ordinary cores. A row of the product is an output position, a column a
// channel, the depth runs over window positions and, within each, channels: 16-byte cp.async chunks of
// channels, zeros where a window leaves the input. One or two spatial axes, groups; channels a group are a
// multiple of 8 (float32: 4), weights [M, kernel..., C] dense behind M. Tiles of 128 x 128, 128 x 64 and 64 x
// 64; where those would leave multiprocessors idle, and for float32, 32 x 32 with the depth split over the
// warps, and on sm_90 over 2 or 4 blocks of a cluster too: each sums its part, and adds up its share of the
// rows from the others' shared memory in the order of their ranks. Stages fill 48 KB of shared memory. 256
// threads, two blocks a multiprocessor; clusters of four blocks loop over tiles.
#include "kernels/conv/conv_device.cuh"
#include "kernels/device/cluster.cuh"
#include "kernels/device/mma_tile.cuh"

namespace ge::kernels {

inline constexpr int kNhwcShared = 48 * 1024;

// Elements of a 16-byte chunk; of a line of shared memory, which floats pad by a chunk and others swizzle;
// and where a line's chunk stands.
template <class T>
__device__ __forceinline__ constexpr int chunk_of() {
  return 16 / static_cast<int>(sizeof(T));
}
template <class T, int kDepth>
__device__ __forceinline__ constexpr int line_of() {
  return sizeof(T) == 2 ? kDepth : kDepth + 4;
}
template <class T, int kDepth>
__device__ __forceinline__ int nhwc_slot(int line, int chunk) {
  if constexpr (sizeof(T) == 2)
    return row_slot<kDepth>(line, chunk);
  else
    return line * line_of<T, kDepth>() + chunk * 4;
}

// 32 x 32 results in float on the ordinary cores, as ThinMmaTile: each warp holds all of them, 4 x 8 a
// thread, and takes a chunk of 4 of the depth.
struct FloatTile {
  static constexpr int kSide = 32, kStageStride = kSide + 4, kStageBytes = 8 * kSide * kStageStride * 4;
  float acc[4][8];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j) acc[i][j] = 0;
    }
  }
  // A thread's rows are lane / 4 + 8 i, its columns lane % 4 + 4 j: the lines that a warp reads at once fall
  // on different banks.
  template <bool kByColumns>
  static __device__ __forceinline__ MmaSlots slots() {
    const int thread = opaque(static_cast<int>(threadIdx.x)), lane = thread & 31, step = (thread >> 5) * 4;
    return {(lane >> 2) * kStageStride + step, (lane & 3) * kStageStride + step};
  }
  template <bool kByColumns>
  __device__ __forceinline__ void accumulate(const MmaSlots& slots, const float* a, const float* b) {
    float4 left[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      left[i] = *reinterpret_cast<const float4*>(a + slots.left + i * 8 * kStageStride);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float4 right = *reinterpret_cast<const float4*>(b + slots.right + j * 4 * kStageStride);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        acc[i][j] += left[i].x * right.x;
        acc[i][j] += left[i].y * right.y;
        acc[i][j] += left[i].z * right.z;
        acc[i][j] += left[i].w * right.w;
      }
    }
  }
  // As ThinMmaTile's.
  __device__ __forceinline__ void add_warps(float* stage) const {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
        stage[(warp * kSide + (lane >> 2) + i * 8) * kStageStride + (lane & 3) + j * 4] = acc[i][j];
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < kSide * kSide; i += 256) {
      float* const at = stage + i / kSide * kStageStride + i % kSide;
      float sum = 0;
#pragma unroll
      for (int w = 0; w < 8; ++w) sum += at[w * kSide * kStageStride];
      *at = sum;
    }
    __syncthreads();
  }
};

// Fills a row tile with positions: a thread's chunks keep their rows and their place in every step of the
// depth.
template <class T, int kRows, int kDepth>
struct PositionFetcher {
  static constexpr int kAcross = kDepth / chunk_of<T>(), kDown = 256 / kAcross, kChunks = kRows / kDown;
  static_assert(kRows % kDown == 0 && kDown % 8 == 0);  // 8: the swizzle repeats
  const ConvGeometry& g;
  const T* x;                         // of the group's first channel
  int origin[kChunks];                // element offset of the window's start, as if it were inside
  int row[kChunks], column[kChunks];  // where it starts
  int slot, channels;
  int tap_row, tap_column, channel;  // this thread's chunk of the next step

  __device__ PositionFetcher(const ConvArgs& a, const ConvGeometry& geometry, int64_t group, int64_t row0,
                             int depth0)
      : g(geometry), channels(static_cast<int>(a.w.dims[1])) {
    const int thread = opaque(static_cast<int>(threadIdx.x));
    x = pointer_to<T>(a.x, group * a.w.dims[1]);
    slot = nhwc_slot<T, kDepth>(thread / kAcross, thread % kAcross);
    const int depth = depth0 + thread % kAcross * chunk_of<T>(), tap = depth / channels;
    channel = depth - tap * channels;
    tap_row = tap / g.kernel_width, tap_column = tap - tap_row * g.kernel_width;
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const ConvColumn at(a, g, row0 + thread / kAcross + kDown * i, 0);
      origin[i] = static_cast<int>(at.base), row[i] = at.row, column[i] = at.column;
    }
  }
  __device__ __forceinline__ void fetch(T* shared) {
    const int down = tap_row * g.dilation[0], across = tap_column * g.dilation[1];
    const int offset = down * static_cast<int>(g.x_row) + across * static_cast<int>(g.x_step) + channel;
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const bool inside = tap_row < g.kernel_height &&
                          static_cast<unsigned>(row[i] + down) < static_cast<unsigned>(g.in_height) &&
                          static_cast<unsigned>(column[i] + across) < static_cast<unsigned>(g.in_width);
      cp_async_16(shared + slot + kDown * line_of<T, kDepth>() * i, inside ? x + (origin[i] + offset) : x,
                  inside ? 16 : 0);
    }
    channel += kDepth;
    while (channel >= channels) {
      channel -= channels;
      if (++tap_column == g.kernel_width) tap_column = 0, ++tap_row;
    }
  }
};

// Fills a row tile with filters, whose depth is one dense run.
template <class T, int kRows, int kDepth>
struct FilterFetcher {
  static constexpr int kAcross = kDepth / chunk_of<T>(), kDown = 256 / kAcross, kChunks = kRows / kDown;
  static_assert(kRows % kDown == 0 && kDown % 8 == 0);
  const T* from;         // the first chunk's
  int64_t step;          // elements from a chunk to the next
  int slot, used, left;  // used: chunks that hold a filter; left: depth from this thread's chunk to the end

  __device__ FilterFetcher(const ConvArgs& a, const ConvGeometry& g, int64_t group, int64_t column0,
                           int depth0) {
    const int thread = opaque(static_cast<int>(threadIdx.x));
    const int64_t line = column0 + thread / kAcross;
    slot = nhwc_slot<T, kDepth>(thread / kAcross, thread % kAcross);
    left = static_cast<int>(g.depth) - depth0 - thread % kAcross * chunk_of<T>();
    from = pointer_to<T>(
        a.w, (group * g.group_rows + line) * a.w.strides[0] + depth0 + thread % kAcross * chunk_of<T>());
    step = kDown * a.w.strides[0];
    used = 0;
#pragma unroll
    for (int i = 0; i < kChunks; ++i) used += line + kDown * i < g.group_rows;
  }
  __device__ __forceinline__ void fetch(const ConvArgs& a, T* shared) {
    const T* at = from;
#pragma unroll
    for (int i = 0; i < kChunks; ++i, at += step) {
      const bool valid = i < used && left > 0;
      cp_async_16(shared + slot + kDown * line_of<T, kDepth>() * i,
                  valid ? at : static_cast<const T*>(a.w.data), valid ? 16 : 0);
    }
    from += kDepth;
    left -= kDepth;
  }
};

// Adds the product over [depth0, depth1), multiples of 8.
template <class T, class Tile, int kRows, int kColumns, int kDepth>
__device__ __forceinline__ void multiply_positions(const ConvArgs& a, const ConvGeometry& g, int64_t group,
                                                   int64_t row0, int64_t column0, int depth0, int depth1,
                                                   Tile& tile, char* shared) {
  constexpr int kLine = line_of<T, kDepth>(), kLeft = kRows * kLine,
                kStage = (kRows + kColumns) * kLine;  // elements
  constexpr int kStages = kNhwcShared / (kStage * static_cast<int>(sizeof(T)));
  static_assert(kStages >= 3 && Tile::kStageBytes <= kNhwcShared);
  T* const memory = reinterpret_cast<T*>(shared);
  PositionFetcher<T, kRows, kDepth> left(a, g, group, row0, depth0);
  FilterFetcher<T, kColumns, kDepth> right(a, g, group, column0, depth0);
  const auto fetch = [&](int stage) {
    left.fetch(memory + stage * kStage);
    right.fetch(a, memory + stage * kStage + kLeft);
  };
  const MmaSlots slots = Tile::template slots<true>();
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s) {
    if (depth0 + s * kDepth < depth1) fetch(s);
    cp_async_commit();
  }
  int stage = 0;
#pragma unroll 1
  for (int rest = depth1 - depth0; rest > 0; rest -= kDepth) {
    cp_async_wait<kStages - 2>();
    __syncthreads();
    if (rest > kDepth * (kStages - 1)) fetch(stage == 0 ? kStages - 1 : stage - 1);
    cp_async_commit();
    tile.template accumulate<true>(slots, memory + stage * kStage, memory + stage * kStage + kLeft);
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
  cp_async_wait<0>();
}

// Eight channels of one position: bias, residual, activation and the store. `sums` are the thread's own; they
// are worked on in shared memory, where a loop may index them.
template <class T>
__device__ __forceinline__ void finish_chunk(const ConvArgs& a, const ConvGeometry& g, int64_t group,
                                             int64_t position, int64_t row, float* sums) {
  if (position >= g.positions || row >= g.group_rows) return;
  const int count = row + 8 <= g.group_rows ? 8 : static_cast<int>(g.group_rows - row), last = a.y.rank - 1;
  const int64_t channel = group * g.group_rows + row;
  const int64_t x = split(position, g.out_width), y = split(position, g.out_height);
  const T* residual = nullptr;
  if (a.residual.data != nullptr) {
    residual = pointer_to<T>(a.residual, position * a.residual.strides[0] + channel * a.residual.strides[1] +
                                             y * (a.y.rank == 3 ? 0 : a.residual.strides[last - 1]) +
                                             x * a.residual.strides[last]);
  }
#pragma unroll 1
  for (int e = 0; e < count; ++e) {
    float v = sums[e];
    if (a.bias.data != nullptr) v += to_float(*pointer_to<T>(a.bias, (channel + e) * a.bias.strides[0]));
    if (residual != nullptr) v += to_float(residual[e * a.residual.strides[1]]);
    sums[e] = activate(a.activation, v);
  }
  T* const to = static_cast<T*>(a.y.data) + position * a.y.strides[0] + channel * a.y.strides[1] +
                y * g.y_row + x * g.y_step;
  if (count == 8 && a.y.strides[1] == 1 && reinterpret_cast<uintptr_t>(to) % 16 == 0) {
    if constexpr (sizeof(T) == 4) {
      reinterpret_cast<float4*>(to)[0] = {sums[0], sums[1], sums[2], sums[3]};
      reinterpret_cast<float4*>(to)[1] = {sums[4], sums[5], sums[6], sums[7]};
    } else {
      unsigned words[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        words[e] = from_float<T>(sums[2 * e]).bits |
                   static_cast<unsigned>(from_float<T>(sums[2 * e + 1]).bits) << 16;
      }
      *reinterpret_cast<uint4*>(to) = {words[0], words[1], words[2], words[3]};
    }
    return;
  }
#pragma unroll 1
  for (int e = 0; e < count; ++e) to[e * a.y.strides[1]] = from_float<T>(sums[e]);
}

struct NhwcTiles {
  int64_t across, down, all;  // of positions, of a group's channels
  __device__ NhwcTiles(const ConvGeometry& g, int64_t groups, int rows, int columns)
      : across((g.positions + rows - 1) / rows), down((g.group_rows + columns - 1) / columns) {
    all = across * down * groups;
  }
};

// Whole tiles, one a block.
template <class T, int kRows, int kColumns>
__device__ __forceinline__ void conv_nhwc_tiles(const ConvArgs& a, const ConvGeometry& g, char* shared) {
  using Tile = MmaTile<T, kRows, kColumns>;
#pragma unroll 1
  for (int64_t item = blockIdx.x; item < NhwcTiles(g, a.groups, kRows, kColumns).all; item += gridDim.x) {
    // Neighbouring blocks share filters.
    int64_t group = item;
    const NhwcTiles tiles(g, a.groups, kRows, kColumns);
    const int64_t row0 = split(group, tiles.across) * kRows, column0 = split(group, tiles.down) * kColumns;
    Tile tile;
    tile.clear();
    multiply_positions<T, Tile, kRows, kColumns, kMmaDepth>(a, g, group, row0, column0, 0,
                                                            static_cast<int>(g.depth), tile, shared);
    tile.write_chunks(reinterpret_cast<float*>(shared), [&](int row, int column, float* sums) {
      finish_chunk<T>(a, g, group, row0 + row, column0 + column, sums);
    });
  }
}

inline constexpr int kThinSide = 32;
inline constexpr int64_t kSlots = 320;  // blocks that a large GPU runs at once, and some

// Small tiles; `parts` blocks of a cluster share one, each a part of the depth.
template <class T, class Tile, int kDepth>
__device__ __forceinline__ void conv_nhwc_thin(const ConvArgs& a, const ConvGeometry& g, char* shared) {
  const NhwcTiles tiles(g, a.groups, kThinSide, kThinSide);
  const int steps = static_cast<int>((g.depth + kDepth - 1) / kDepth);
  int parts = 1;
  while (parts < cluster_blocks() && tiles.all * parts * 2 <= kSlots && parts * 2 <= steps) parts *= 2;
  const int rank = cluster_rank(), part = rank & (parts - 1), together = cluster_blocks() / parts;
  const int share = (steps + parts - 1) / parts * kDepth, depth0 = part * share, end = depth0 + share,
            depth1 = end < g.depth ? end : static_cast<int>(g.depth);
  float* const stage = reinterpret_cast<float*>(shared);
  // All blocks of a cluster make the same rounds: they meet in each.
  const int64_t first = blockIdx.x / cluster_blocks() * together,
                stride = gridDim.x / cluster_blocks() * together;
#pragma unroll 1
  for (int64_t round = first; round < tiles.all; round += stride) {
    int64_t group = round + rank / parts;
    const bool active = group < tiles.all;
    const int64_t row0 = split(group, tiles.across) * kThinSide,
                  column0 = split(group, tiles.down) * kThinSide;
    if (active) {
      Tile tile;
      tile.clear();
      multiply_positions<T, Tile, kThinSide, kThinSide, kDepth>(a, g, group, row0, column0, depth0, depth1,
                                                                tile, shared);
      tile.add_warps(stage);
    }
    if (parts > 1) cluster_sync();
    const int rows = kThinSide / parts, chunk = threadIdx.x;
    if (active && chunk < rows * (kThinSide / 8)) {
      const int row = part * rows + chunk / (kThinSide / 8), column = chunk % (kThinSide / 8) * 8;
      float* const sums = stage + row * Tile::kStageStride + column;
      if (parts > 1) add_parts(sums, rank - part, parts);
      finish_chunk<T>(a, g, group, row0 + row, column0 + column, sums);
    }
    if (parts > 1) cluster_sync();
    __syncthreads();
  }
}

// Fewer tiles than this leave multiprocessors of a large GPU idle.
inline constexpr int64_t kEnoughTiles = 120;

template <class T>
__device__ __forceinline__ void conv_nhwc(const ConvArgs& a) {
  __shared__ __align__(128) char shared[kNhwcShared];
  if (blockDim.x != 256 || gridDim.x % kClusterBlocks != 0) return;
  const ConvGeometry g(a);
  if (g.group_rows > 64 && NhwcTiles(g, a.groups, 128, 128).all >= kEnoughTiles)
    conv_nhwc_tiles<T, 128, 128>(a, g, shared);
  else if (NhwcTiles(g, a.groups, 128, 64).all >= kEnoughTiles * 2)
    conv_nhwc_tiles<T, 128, 64>(a, g, shared);
  else if (NhwcTiles(g, a.groups, 64, 64).all >= kEnoughTiles)
    conv_nhwc_tiles<T, 64, 64>(a, g, shared);
  else
    conv_nhwc_thin<T, ThinMmaTile<T, kThinSide, kThinSide>, kThinDepth>(a, g, shared);
}

}  // namespace ge::kernels

extern "C" __global__ void GE_CLUSTER_OF_4 __launch_bounds__(256, 2)
    ge_conv_nhwc_f16(const __grid_constant__ ge::kernels::ConvArgs args) {
  ge::kernels::conv_nhwc<ge::kernels::Half>(args);
}
extern "C" __global__ void GE_CLUSTER_OF_4 __launch_bounds__(256, 2)
    ge_conv_nhwc_bf16(const __grid_constant__ ge::kernels::ConvArgs args) {
  ge::kernels::conv_nhwc<ge::kernels::BHalf>(args);
}
extern "C" __global__ void GE_CLUSTER_OF_4 __launch_bounds__(256, 2)
    ge_conv_nhwc_f32(const __grid_constant__ ge::kernels::ConvArgs args) {
  using namespace ge::kernels;
  __shared__ __align__(128) char shared[kNhwcShared];
  if (blockDim.x != 256 || gridDim.x % kClusterBlocks != 0) return;
  conv_nhwc_thin<float, FloatTile, 32>(args, ConvGeometry(args), shared);
}
