// conv_direct_f32_sm80: float32 convolution as a gathered product by 32 x 32 tiles on the ordinary cores, any
// strides, one or two spatial axes, groups. conv_windows_f16/f32/bf16: one thread a result, float sums; for
// narrow groups (depthwise) above all. conv_generic_sm80: every type, one to three spatial axes, one thread a
// result in double or int64. 256 threads.
#include "kernels/conv/conv_device.cuh"
#include "kernels/device/simt_tile.cuh"

namespace ge::kernels {

struct ConvFloatSource {
  const ConvArgs& a;
  const ConvGeometry& g;
  int64_t group;
  using Column = ConvColumn;
  __device__ __forceinline__ Column column(int64_t position) const {
    return ConvColumn(a, g, position, group);
  }
  __device__ __forceinline__ float left(int64_t row, int64_t d) const {
    if (row >= g.group_rows || d >= g.depth) return 0;
    return *pointer_to<float>(a.w, weight_offset(a, g, group * g.group_rows + row, d));
  }
  __device__ __forceinline__ float right(int64_t d, const Column& c) const {
    if (d >= g.depth) return 0;
    const ConvTap tap(a, g, d);
    return is_inside(g, c, tap) ? *pointer_to<float>(a.x, c.base + tap.offset) : 0;
  }
  __device__ __forceinline__ void write(int64_t row, int64_t position, float v) const {
    finish_conv<float>(a, g, group, row, position, v);
  }
};

template <class T>
__device__ void conv_windows(const ConvArgs& a) {
  const ConvGeometry g(a);
  const int64_t total = g.positions * a.y.dims[1];
  const bool channels_last = a.y.strides[1] == 1 && g.y_step != 1;
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    // Neighbouring threads take neighbouring positions of one channel, or channels of one position.
    int64_t rest = i, channel, position;
    if (channels_last) {
      channel = split(rest, a.y.dims[1]);
      position = rest;
    } else {
      const int64_t plane = split(rest, g.out_height * g.out_width);
      channel = split(rest, a.y.dims[1]);
      position = rest * g.out_height * g.out_width + plane;
    }
    const int64_t group = channel / g.group_rows;
    const ConvColumn column(a, g, position, group);
    const T* x = pointer_to<T>(a.x, column.base);
    const T* w = pointer_to<T>(a.w, channel * a.w.strides[0]);
    const int64_t row_step = g.dilation[0] * g.x_row, column_step = g.dilation[1] * g.x_step;
    float sum = 0;
    for (int64_t c = 0; c < a.w.dims[1]; ++c, x += a.x.strides[1], w += g.w_channel) {
      for (int kh = 0; kh < g.kernel_height; ++kh) {
        const int row = column.row + kh * g.dilation[0];
        if (row < 0 || row >= g.in_height) continue;
        const T* x_at = x + kh * row_step;
        const T* w_at = w + kh * g.w_row;
        for (int kw = 0, at = column.column; kw < g.kernel_width;
             ++kw, at += g.dilation[1], x_at += column_step, w_at += g.w_step) {
          if (at >= 0 && at < g.in_width) sum += to_float(*x_at) * to_float(*w_at);
        }
      }
    }
    finish_conv<T>(a, g, group, channel - group * g.group_rows, position, sum);
  }
}

template <class T>
__device__ void conv_generic(const ConvArgs& a) {
  const int spatial = a.y.rank - 2;
  const int64_t total = count_of(a.y.dims, a.y.rank), depth = count_of(a.w.dims + 1, spatial + 1),
                group_rows = a.y.dims[1] / a.groups;
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    // Unrolled, with constant indices: a variable one would put `start` into local memory.
    int64_t rest = i, start[kMaxSpatial] = {}, y = 0, residual = 0;
#pragma unroll
    for (int s = kMaxSpatial - 1; s >= 0; --s) {
      if (s >= spatial) continue;
      const int64_t at = split(rest, a.y.dims[2 + s]);
      start[s] = at * a.window.strides[s] - a.window.pads_begin[s];
      y += at * a.y.strides[2 + s];
      if (a.residual.data != nullptr) residual += at * a.residual.strides[2 + s];
    }
    const int64_t channel = split(rest, a.y.dims[1]);
    const int64_t base = rest * a.x.strides[0] + channel / group_rows * a.w.dims[1] * a.x.strides[1];
    T sum = 0;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t step = d, x = base, w = channel * a.w.strides[0];
      bool inside = true;
#pragma unroll
      for (int s = kMaxSpatial - 1; s >= 0; --s) {
        if (s >= spatial) continue;
        const int64_t tap = split(step, a.w.dims[2 + s]), at = start[s] + tap * a.window.dilations[s];
        inside = inside && at >= 0 && at < a.x.dims[2 + s];
        x += at * a.x.strides[2 + s];
        w += tap * a.w.strides[2 + s];
      }
      if (inside)
        sum +=
            load_element<T>(a.x, x + step * a.x.strides[1]) * load_element<T>(a.w, w + step * a.w.strides[1]);
    }
    if (a.bias.data != nullptr) sum += load_element<T>(a.bias, channel * a.bias.strides[0]);
    if (a.residual.data != nullptr)
      sum += load_element<T>(a.residual,
                             rest * a.residual.strides[0] + channel * a.residual.strides[1] + residual);
    if constexpr (static_cast<T>(0.5) != 0) {
      sum = activate(a.activation, sum);
    }
    store_element(a.y, rest * a.y.strides[0] + channel * a.y.strides[1] + y, sum);
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_conv_direct_f32(const __grid_constant__ ge::kernels::ConvArgs args) {
  using namespace ge::kernels;
  __shared__ SimtShared shared;
  if (blockDim.x != 256) return;
  const ConvGeometry g(args);
  const int64_t row_tiles = (g.group_rows + kSimtTile - 1) / kSimtTile,
                column_tiles = (g.positions + kSimtTile - 1) / kSimtTile;
  for (int64_t item = blockIdx.x; item < row_tiles * column_tiles * args.groups; item += gridDim.x) {
    int64_t group = item;
    const int64_t row0 = split(group, row_tiles) * kSimtTile,
                  column0 = split(group, column_tiles) * kSimtTile;
    simt_product(ConvFloatSource{args, g, group}, row0, column0, g.depth, shared);
  }
}
extern "C" __global__ void __launch_bounds__(256)
    ge_conv_windows(const __grid_constant__ ge::kernels::ConvArgs args) {
  using namespace ge::kernels;
  if (args.y.dtype == ge::DType::float32)
    conv_windows<float>(args);
  else if (args.y.dtype == ge::DType::float16)
    conv_windows<Half>(args);
  else
    conv_windows<BHalf>(args);
}
extern "C" __global__ void __launch_bounds__(256)
    ge_conv_generic(const __grid_constant__ ge::kernels::ConvArgs args) {
  using namespace ge::kernels;
  if (is_real(args.y.dtype))
    conv_generic<double>(args);
  else
    conv_generic<int64_t>(args);
}
