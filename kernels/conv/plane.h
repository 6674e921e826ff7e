// Geometry of conv and pool with one or two spatial axes, as two: [N, C, W] is taken as [N, C, 1, W]. Entry:
// Plane, read_plane.
#pragma once
#include "kernels/common/window_args.h"
#include "kernels/dot/float_access.h"

namespace ge::kernels {

// Extents and strides of a tensor's last two axes.
struct PlaneAxes {
  int64_t height = 1, width = 1, row_step = 0, step = 0;
};
inline PlaneAxes plane_axes(const TensorView& view) {
  const int w = view.rank - 1;
  if (view.rank == 3) return {1, view.dims[w], 0, view.strides[w]};
  return {view.dims[w - 1], view.dims[w], view.strides[w - 1], view.strides[w]};
}

// A window over the two axes; index 0 is the height.
struct PlaneWindow {
  int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};
};
inline PlaneWindow plane_window(const Window& window, int rank) {
  PlaneWindow p;
  const int first = rank == 3 ? 1 : 0;
  for (int i = first; i < 2; ++i) {
    p.stride[i] = window.strides[i - first];
    p.dilation[i] = window.dilations[i - first];
    p.pad[i] = window.pads_begin[i - first];
  }
  return p;
}

// Positions t in [first, last) of [0, count) for which start + t * stride lies in [0, extent).
struct Inside {
  int64_t first, last;
};
inline Inside inside_of(int64_t start, int64_t stride, int64_t extent, int64_t count) {
  const auto steps = [&](int64_t distance) {  // smallest t with t * stride >= distance, within [0, count]
    if (distance <= 0) return int64_t{0};
    const int64_t t = stride == 1 ? distance : (distance + stride - 1) / stride;
    return t < count ? t : count;
  };
  const int64_t first = steps(-start), last = steps(extent - start);
  return {first, last > first ? last : first};
}

// The plane at `offset` as dense floats: where it stands if it is one already, else copied to `buffer`
// (height * width floats).
inline const float* read_plane(const TensorView& view, const PlaneAxes& axes, int64_t offset, float* buffer) {
  const bool dense =
      view.dtype == DType::float32 && axes.step == 1 && (axes.height == 1 || axes.row_step == axes.width);
  if (dense) return reinterpret_cast<const float*>(address_of(view, offset));
  for (int64_t h = 0; h < axes.height; ++h) {
    read_floats(view, offset + h * axes.row_step, axes.step, axes.width, buffer + h * axes.width);
  }
  return buffer;
}

}  // namespace ge::kernels
