// What the reduce rows share: tables and check. Entry: kReduceOperands, kReduceAttrs, kReduceArgs,
// check_reduce.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/reduce/reduce.h"

namespace ge::kernels {

inline constexpr OperandRow kReduceOperands[] = {
    {.name = "in", .dtypes = kAllTypes},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes},
};
inline constexpr AttrRow kReduceAttrs[] = {
    {.name = "kind", .min = 0, .max = kReduceKinds - 1},
    {.name = "axes", .min = 0, .max = (1 << kMaxRank) - 1},
    {.name = "select_last", .min = 0, .max = 1, .required = false},
};
inline constexpr ArgRow kReduceArgs[] = {
    view_arg(offsetof(ReduceArgs, in), 0),
    view_arg(offsetof(ReduceArgs, out), 1),
    int_arg(offsetof(ReduceArgs, kind), "kind"),
    int_arg(offsetof(ReduceArgs, axes), "axes"),
    int_arg(offsetof(ReduceArgs, select_last), "select_last"),
};
Status check_reduce(const LaunchShape& shape);

}  // namespace ge::kernels
