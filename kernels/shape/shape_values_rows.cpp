// Row of shape_values.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/shape/shape_row.h"

namespace ge::kernels {

extern constinit const KernelRow shape_values_sm80_row = {
    .name = "shape_values_sm80",
    .device = KernelDevice::kCuda,
    .operands = kShapeOperands,
    .args_size = sizeof(ShapeArgs),
    .args = kShapeArgs,
    .limits = kSm80,
    .check = check_shape,
    .symbol = "ge_shape_values",
    .image = "shape_values",
    .summary = "extents of a view as int64 values",
};

}  // namespace ge::kernels
