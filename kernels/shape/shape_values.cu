// shape_values_sm80: the extents of a view, one thread an axis.
#include "kernels/device/index.cuh"
#include "kernels/shape/shape.h"

extern "C" __global__ void ge_shape_values(const __grid_constant__ ge::kernels::ShapeArgs args) {
  const int64_t i = ge::kernels::grid_begin();
  if (i < args.like.rank) static_cast<int64_t*>(args.out.data)[i * args.out.strides[0]] = args.like.dims[i];
}
