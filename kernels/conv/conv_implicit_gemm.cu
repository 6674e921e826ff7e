// conv_implicit_gemm_f16_sm80, conv_implicit_gemm_bf16_sm80: convolution as a product of the weights
// [M/groups, C/groups * taps] with input windows gathered on the way, on tensor cores (mma.sync m16n8k16),
// float sums. NCHW or any strides, one or two spatial axes, groups; windows of up to 16 x 16, x of up to 2^31
// elements. Tiles of 64 channels x 128 positions; 256 threads; blocks loop over tiles. The next depth step is
// fetched to registers while this one is multiplied; 2 x 12 KB of shared memory.
#include "kernels/conv/conv_device.cuh"
#include "kernels/device/mma_tile.cuh"

namespace ge::kernels {

inline constexpr int kConvRows = 64, kConvColumns = 128;

template <class T>
struct ConvFetcher {
  const ConvArgs& a;
  const ConvGeometry& g;
  int64_t group, row0;
  bool dense_weights;  // a filter's values are one run: chunks of 8 where also aligned
  int base[8];         // this thread's eight neighbouring positions: where each window starts in x,
  unsigned inside[8];  // and which of its rows and columns are inside
  uint4 left;          // one chunk of the weights
  uint4 right[2];      // two depth steps of the eight positions

  __device__ ConvFetcher(const ConvArgs& args, const ConvGeometry& geometry, int64_t tile_group,
                         int64_t tile_row, int64_t column0)
      : a(args), g(geometry), group(tile_group), row0(tile_row) {
    const int64_t first = column0 + (threadIdx.x & 15) * 8;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const ConvColumn column(a, g, first + i, group);
      base[i] = static_cast<int>(column.base);
      inside[i] = inside_mask(g, column);
    }
    dense_weights = (g.kernel_width == 1 || g.w_step == 1) &&
                    (g.kernel_height == 1 || g.w_row == g.kernel_width) && g.w_channel == g.taps &&
                    a.w.strides[0] % 8 == 0 && reinterpret_cast<uintptr_t>(a.w.data) % 16 == 0;
  }

  __device__ __forceinline__ void fetch(int64_t depth0) {
    fetch_left(row0 + (threadIdx.x >> 2), depth0 + (threadIdx.x & 3) * 8);
    right[0] = fetch_right(depth0 + (threadIdx.x >> 4));
    right[1] = fetch_right(depth0 + (threadIdx.x >> 4) + 16);
  }

  __device__ __forceinline__ void put(T* shared_left, T* shared_right) const {
    const int depth = threadIdx.x >> 4, chunk = threadIdx.x & 15;
    *reinterpret_cast<uint4*>(shared_left + row_slot(threadIdx.x >> 2, threadIdx.x & 3)) = left;
    *reinterpret_cast<uint4*>(shared_right + depth_slot<kConvColumns>(depth, chunk)) = right[0];
    *reinterpret_cast<uint4*>(shared_right + depth_slot<kConvColumns>(depth + 16, chunk)) = right[1];
  }

 private:
  __device__ __forceinline__ void fetch_left(int64_t row, int64_t depth) {
    left = {0, 0, 0, 0};
    if (row >= g.group_rows || depth >= g.depth) return;
    const int64_t filter = group * g.group_rows + row;
    if (dense_weights && depth + 8 <= g.depth) {
      left = *reinterpret_cast<const uint4*>(pointer_to<T>(a.w, filter * a.w.strides[0] + depth));
      return;
    }
    unsigned words[4] = {};
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (depth + e < g.depth) {
        words[e >> 1] |=
            static_cast<unsigned>(pointer_to<T>(a.w, weight_offset(a, g, filter, depth + e))->bits)
            << ((e & 1) * 16);
      }
    }
    left = {words[0], words[1], words[2], words[3]};
  }

  __device__ __forceinline__ uint4 fetch_right(int64_t depth) const {
    unsigned values[8] = {};
    if (depth < g.depth) {
      int64_t channel = depth;
      const int tap = static_cast<int>(split(channel, g.taps)), kh = tap / g.kernel_width,
                kw = tap - kh * g.kernel_width;
      const int offset = static_cast<int>(channel * a.x.strides[1] + kh * g.dilation[0] * g.x_row +
                                          kw * g.dilation[1] * g.x_step);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (((inside[i] >> kh) & (inside[i] >> (16 + kw)) & 1) != 0)
          values[i] = pointer_to<T>(a.x, base[i] + offset)->bits;
      }
    }
    return {values[0] | values[1] << 16, values[2] | values[3] << 16, values[4] | values[5] << 16,
            values[6] | values[7] << 16};
  }
};

template <class T>
__device__ __forceinline__ void conv_mma(const ConvArgs& a) {
  constexpr int kLeft = kConvRows * kMmaDepth, kRight = kConvColumns * kMmaDepth;
  using Tile = MmaTile<T, kConvRows, kConvColumns>;
  constexpr int kPipelineBytes = 2 * (kLeft + kRight) * 2;
  __shared__ __align__(
      128) char memory[kPipelineBytes > Tile::kStageBytes ? kPipelineBytes : Tile::kStageBytes];
  if (blockDim.x != 256) return;
  T* const shared = reinterpret_cast<T*>(memory);
  const ConvGeometry g(a);
  const int64_t row_tiles = (g.group_rows + kConvRows - 1) / kConvRows,
                column_tiles = (g.positions + kConvColumns - 1) / kConvColumns;
  for (int64_t item = blockIdx.x; item < row_tiles * column_tiles * a.groups; item += gridDim.x) {
    int64_t group = item;
    const int64_t row0 = split(group, row_tiles) * kConvRows,
                  column0 = split(group, column_tiles) * kConvColumns;
    ConvFetcher<T> fetcher(a, g, group, row0, column0);
    Tile tile;
    tile.clear();
    const MmaSlots slots = Tile::template slots<false>();
    if (g.depth > 0) fetcher.fetch(0);
    int stage = 0;
    for (int64_t d = 0; d < g.depth; d += kMmaDepth, stage ^= 1) {
      T* const left = shared + stage * (kLeft + kRight);
      fetcher.put(left, left + kLeft);
      __syncthreads();
      if (d + kMmaDepth < g.depth) fetcher.fetch(d + kMmaDepth);
      tile.template accumulate<false>(slots, left, left + kLeft);
    }
    // Channels that stand side by side are written side by side.
    tile.write_all(
        reinterpret_cast<float*>(memory),
        [&](int row, int column, float value) {
          finish_conv<T>(a, g, group, row0 + row, column0 + column, value);
        },
        a.y.strides[1] == 1 && g.y_step != 1);
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256, 2)
    ge_conv_implicit_gemm_f16(const __grid_constant__ ge::kernels::ConvArgs args) {
  ge::kernels::conv_mma<ge::kernels::Half>(args);
}
extern "C" __global__ void __launch_bounds__(256, 2)
    ge_conv_implicit_gemm_bf16(const __grid_constant__ ge::kernels::ConvArgs args) {
  ge::kernels::conv_mma<ge::kernels::BHalf>(args);
}
