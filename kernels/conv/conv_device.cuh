// What the CUDA conv kernels share: geometry with absent axes filled in, and the epilogue of one result.
// Entry: ConvGeometry, ConvColumn, finish_conv. One or two spatial axes; [N, C, W] is taken as [N, C, 1, W].
#pragma once
#include "kernels/conv/conv.h"
#include "kernels/device/activation.cuh"
#include "kernels/device/element.cuh"
#include "kernels/device/index.cuh"

namespace ge::kernels {

struct ConvGeometry {
  int64_t in_height, in_width, x_row, x_step;  // extents and strides of x's last two axes
  int64_t out_height, out_width, y_row, y_step;
  int64_t w_channel, w_row, w_step;
  int kernel_height, kernel_width, taps;
  int stride[2], dilation[2], pad[2];
  int64_t group_rows, depth, positions;  // output channels a group, channels * taps, images * out positions

  __device__ explicit ConvGeometry(const ConvArgs& a) {
    const int last = a.y.rank - 1;
    const bool flat = a.y.rank == 3;
    in_width = a.x.dims[last], in_height = flat ? 1 : a.x.dims[last - 1];
    out_width = a.y.dims[last], out_height = flat ? 1 : a.y.dims[last - 1];
    kernel_width = static_cast<int>(a.w.dims[last]),
    kernel_height = flat ? 1 : static_cast<int>(a.w.dims[last - 1]);
    x_step = a.x.strides[last], x_row = flat ? 0 : a.x.strides[last - 1];
    y_step = a.y.strides[last], y_row = flat ? 0 : a.y.strides[last - 1];
    w_step = a.w.strides[last], w_row = flat ? 0 : a.w.strides[last - 1];
    w_channel = a.w.strides[1];
    // Constant indices into this struct: a variable one would put all of it into local memory.
    const Window& w = a.window;
    stride[0] = flat ? 1 : static_cast<int>(w.strides[0]),
    stride[1] = static_cast<int>(flat ? w.strides[0] : w.strides[1]);
    dilation[0] = flat ? 1 : static_cast<int>(w.dilations[0]),
    dilation[1] = static_cast<int>(flat ? w.dilations[0] : w.dilations[1]);
    pad[0] = flat ? 0 : static_cast<int>(w.pads_begin[0]),
    pad[1] = static_cast<int>(flat ? w.pads_begin[0] : w.pads_begin[1]);
    taps = kernel_height * kernel_width;
    group_rows = a.y.dims[1] / a.groups;
    depth = a.w.dims[1] * taps;
    positions = a.y.dims[0] * out_height * out_width;
  }
};

// One output position: where its window starts in the input, or row < -2^29 where there is no such position.
struct ConvColumn {
  int64_t base;  // element offset of (image, group, row, column) in x, as if the window's start were inside
  int row, column;

  __device__ ConvColumn() {}
  __device__ ConvColumn(const ConvArgs& a, const ConvGeometry& g, int64_t position, int64_t group) {
    if (position >= g.positions) {
      base = 0, row = column = -(1 << 30);
      return;
    }
    const int64_t x = split(position, g.out_width), y = split(position, g.out_height);
    row = static_cast<int>(y) * g.stride[0] - g.pad[0];
    column = static_cast<int>(x) * g.stride[1] - g.pad[1];
    base =
        position * a.x.strides[0] + group * a.w.dims[1] * a.x.strides[1] + row * g.x_row + column * g.x_step;
  }
};

// A depth step as channel and window position.
struct ConvTap {
  int row, column;  // distance from the window's start
  int64_t offset;   // the same, with the channel, in x
  __device__ ConvTap(const ConvArgs& a, const ConvGeometry& g, int64_t depth) {
    int64_t channel = depth;
    int tap = static_cast<int>(split(channel, g.taps));
    row = tap / g.kernel_width * g.dilation[0];
    column = tap % g.kernel_width * g.dilation[1];
    offset = channel * a.x.strides[1] + row * g.x_row + column * g.x_step;
  }
};

__device__ __forceinline__ bool is_inside(const ConvGeometry& g, const ConvColumn& c, const ConvTap& t) {
  const int row = c.row + t.row, column = c.column + t.column;
  return row >= 0 && row < g.in_height && column >= 0 && column < g.in_width;
}

// Windows of up to 16 x 16: bit kh says that row kh of a window is inside, bit 16 + kw the same of column kw.
__device__ __forceinline__ unsigned inside_mask(const ConvGeometry& g, const ConvColumn& c) {
  unsigned mask = 0;
  for (int k = 0; k < g.kernel_height; ++k) {
    const int row = c.row + k * g.dilation[0];
    mask |= static_cast<unsigned>(row >= 0 && row < g.in_height) << k;
  }
  for (int k = 0; k < g.kernel_width; ++k) {
    const int column = c.column + k * g.dilation[1];
    mask |= static_cast<unsigned>(column >= 0 && column < g.in_width) << (16 + k);
  }
  return mask;
}

__device__ __forceinline__ int64_t weight_offset(const ConvArgs& a, const ConvGeometry& g, int64_t row,
                                                 int64_t depth) {
  const int tap = static_cast<int>(split(depth, g.taps));
  return row * a.w.strides[0] + depth * g.w_channel + tap / g.kernel_width * g.w_row +
         tap % g.kernel_width * g.w_step;
}

template <class T>
__device__ __forceinline__ void finish_conv(const ConvArgs& a, const ConvGeometry& g, int64_t group,
                                            int64_t row, int64_t position, float value) {
  if (row >= g.group_rows || position >= g.positions) return;
  const int64_t channel = group * g.group_rows + row;
  if (a.bias.data != nullptr) value += to_float(*pointer_to<T>(a.bias, channel * a.bias.strides[0]));
  const int64_t x = split(position, g.out_width), y = split(position, g.out_height);
  if (a.residual.data != nullptr) {
    const int last = a.y.rank - 1;
    const int64_t row_step = a.y.rank == 3 ? 0 : a.residual.strides[last - 1];
    value += to_float(*pointer_to<T>(a.residual, position * a.residual.strides[0] +
                                                     channel * a.residual.strides[1] + y * row_step +
                                                     x * a.residual.strides[last]));
  }
  static_cast<T*>(
      a.y.data)[position * a.y.strides[0] + channel * a.y.strides[1] + y * g.y_row + x * g.y_step] =
      from_float<T>(activate(a.activation, value));
}

}  // namespace ge::kernels
