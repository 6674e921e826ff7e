// What the shape rows share: tables and check. Entry: kShapeOperands, kShapeArgs, check_shape.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/shape/shape.h"

namespace ge::kernels {

inline constexpr OperandRow kShapeOperands[] = {
    {.name = "like", .dtypes = kAllTypes, .min_rank = 1},
    {.name = "out",
     .role = OperandRole::kOut,
     .dtypes = DTypeSet{DType::int64},
     .min_rank = 1,
     .max_rank = 1},
};
inline constexpr ArgRow kShapeArgs[] = {view_arg(offsetof(ShapeArgs, like), 0),
                                        view_arg(offsetof(ShapeArgs, out), 1)};

inline Status check_shape(const LaunchShape& shape) {
  GE_TRY(check_dim(shape.operands[1].dims[0], shape.operands[0].rank, "out, one number an axis of like,"));
  return check_writable(shape.operands[1], "out");
}

}  // namespace ge::kernels
