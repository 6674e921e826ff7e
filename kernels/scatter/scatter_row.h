// What the scatter rows share: tables and the check. Entry: kScatterOperands, kScatterAttrs, check_scatter.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/scatter/scatter.h"

namespace ge::kernels {

inline constexpr OperandRow kScatterOperands[] = {
    {.name = "data", .dtypes = kAllTypes, .min_rank = 1},
    {.name = "indices", .dtypes = kIndexTypes},
    {.name = "updates", .dtypes = kAllTypes},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes, .min_rank = 1},
};
inline constexpr AttrRow kScatterAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank - 1},
    {.name = "elements", .min = 0, .max = 1, .required = false},
    {.name = "kind", .min = 0, .max = kScatterKinds - 1, .required = false},
};
Status check_scatter(const LaunchShape& shape);

}  // namespace ge::kernels
