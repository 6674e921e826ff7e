// What the cast rows share: tables and the check. Entry: kCastOperands, kCastArgs, check_cast.
#pragma once
#include "kernels/cast/cast.h"
#include "kernels/common/check.h"
#include "kernels/common/rows.h"

namespace ge::kernels {

inline constexpr DTypeSet kNibbles{DType::int4, DType::uint4};
inline constexpr OperandRow kCastOperands[] = {
    {.name = "in", .dtypes = kAllTypes | kNibbles},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes | kNibbles},
};
inline constexpr ArgRow kCastArgs[] = {view_arg(offsetof(CastArgs, in), 0),
                                       view_arg(offsetof(CastArgs, out), 1)};
Status check_cast(const LaunchShape& shape);

}  // namespace ge::kernels
