// shape_reference: extents as int64. Entry: shape_reference.
#include "kernels/common/element.h"
#include "kernels/launch_context.h"
#include "kernels/shape/shape_row.h"

namespace ge::kernels {

extern constinit const KernelRow shape_reference_row = {
    .name = "shape_reference",
    .operands = kShapeOperands,
    .args_size = sizeof(ShapeArgs),
    .args = kShapeArgs,
    .check = check_shape,
    .efficiency = kReferenceEfficiency,
    .summary = "extents of a view as int64",
};

void shape_reference(const void* raw, const LaunchContext&) {
  const ShapeArgs& args = *static_cast<const ShapeArgs*>(raw);
  for (int32_t i = 0; i < args.like.rank; ++i) store(args.out, i * args.out.strides[0], args.like.dims[i]);
}

}  // namespace ge::kernels
