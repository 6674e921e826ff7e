// What the gather rows share: tables and the check. Entry: kGatherOperands, kGatherArgs, check_gather.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/resolve_index.h"
#include "kernels/common/rows.h"
#include "kernels/gather/gather.h"

namespace ge::kernels {

inline constexpr OperandRow kGatherOperands[] = {
    {.name = "data", .dtypes = kAllTypes, .min_rank = 1},
    {.name = "indices", .dtypes = kIndexTypes},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes},
};
inline constexpr AttrRow kGatherAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank - 1},
    {.name = "elements", .min = 0, .max = 1, .required = false},
};
inline constexpr ArgRow kGatherArgs[] = {
    view_arg(offsetof(GatherArgs, data), 0),
    view_arg(offsetof(GatherArgs, indices), 1),
    view_arg(offsetof(GatherArgs, out), 2),
    int_arg(offsetof(GatherArgs, axis), "axis"),
    int_arg(offsetof(GatherArgs, elements), "elements"),
};
Status check_gather(const LaunchShape& shape);

}  // namespace ge::kernels
