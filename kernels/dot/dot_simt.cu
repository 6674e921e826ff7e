// dot_tiled_f32_sm80: out = act(lhs rhs + bias + residual) in float32 on the ordinary cores, any sizes and
// strides, 32 x 32 tiles. dot_generic_sm80: every type and layout, one thread a result: double, float or
// int64 sums, k ascending. 256 threads.
#include "kernels/device/simt_tile.cuh"
#include "kernels/dot/dot_device.cuh"

namespace ge::kernels {

struct DotFloatSource {
  const DotArgs& args;
  const DotBatch& batch;
  int m, n;
  struct Column {
    int64_t offset;
    bool inside;
  };
  __device__ __forceinline__ Column column(int64_t c) const {
    return {batch.rhs + c * args.rhs.strides[n], c < args.out.dims[n]};
  }
  __device__ __forceinline__ float left(int64_t row, int64_t d) const {
    if (row >= args.out.dims[m] || d >= args.lhs.dims[n]) return 0;
    return *pointer_to<float>(args.lhs, batch.lhs + row * args.lhs.strides[m] + d * args.lhs.strides[n]);
  }
  __device__ __forceinline__ float right(int64_t d, const Column& c) const {
    if (!c.inside || d >= args.lhs.dims[n]) return 0;
    return *pointer_to<float>(args.rhs, c.offset + d * args.rhs.strides[m]);
  }
  __device__ __forceinline__ void write(int64_t row, int64_t c, float v) const {
    finish_dot<float>(args, batch, row, c, v);
  }
};

template <class T>
__device__ void dot_generic(const DotArgs& args) {
  const int m = args.out.rank - 2, n = m + 1;
  const int64_t total = count_of(args.out.dims, args.out.rank), depth = args.lhs.dims[n];
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    int64_t rest = i;
    const int64_t column = split(rest, args.out.dims[n]), row = split(rest, args.out.dims[m]);
    const DotBatch batch(args, rest);
    const int64_t lhs = batch.lhs + row * args.lhs.strides[m], rhs = batch.rhs + column * args.rhs.strides[n];
    T sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += load_element<T>(args.lhs, lhs + k * args.lhs.strides[n]) *
             load_element<T>(args.rhs, rhs + k * args.rhs.strides[m]);
    }
    if (args.bias.data != nullptr) {
      sum +=
          load_element<T>(args.bias, batch.bias + row * args.bias.strides[m] + column * args.bias.strides[n]);
    }
    if (args.residual.data != nullptr) {
      sum += load_element<T>(
          args.residual, batch.residual + row * args.residual.strides[m] + column * args.residual.strides[n]);
    }
    if constexpr (static_cast<T>(0.5) != 0) {
      sum = activate(args.activation, sum);
    }
    store_element(args.out, batch.out + row * args.out.strides[m] + column * args.out.strides[n], sum);
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_dot_tiled_f32(const __grid_constant__ ge::kernels::DotArgs args) {
  using namespace ge::kernels;
  __shared__ SimtShared shared;
  if (blockDim.x != 256) return;
  const int m = args.out.rank - 2, n = m + 1;
  const int64_t row_tiles = (args.out.dims[m] + kSimtTile - 1) / kSimtTile,
                column_tiles = (args.out.dims[n] + kSimtTile - 1) / kSimtTile;
  const int64_t tiles = row_tiles * column_tiles * count_of(args.out.dims, m);
  for (int64_t item = blockIdx.x; item < tiles; item += gridDim.x) {
    int64_t rest = item;
    const int64_t row0 = split(rest, row_tiles) * kSimtTile, column0 = split(rest, column_tiles) * kSimtTile;
    const DotBatch batch(args, rest);
    simt_product(DotFloatSource{args, batch, m, n}, row0, column0, args.lhs.dims[n], shared);
  }
}

extern "C" __global__ void __launch_bounds__(256)
    ge_dot_generic(const __grid_constant__ ge::kernels::DotArgs args) {
  using namespace ge::kernels;
  if (is_real(args.out.dtype))
    dot_generic<double>(args);
  else
    dot_generic<int64_t>(args);
}
