// What the iota rows share: tables and the check. Entry: kIotaOperands, kIotaAttrs, kIotaArgs, check_iota.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/iota/iota.h"

namespace ge::kernels {

inline constexpr OperandRow kIotaOperands[] = {
    {.name = "out", .role = OperandRole::kOut, .dtypes = kNumberTypes, .min_rank = 1},
};
inline constexpr AttrRow kIotaAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank - 1},
    {.name = "start", .required = false},
    {.name = "step", .required = false},
};
inline constexpr ArgRow kIotaArgs[] = {
    view_arg(offsetof(IotaArgs, out), 0),
    int_arg(offsetof(IotaArgs, axis), "axis"),
    int_arg(offsetof(IotaArgs, start), "start"),
    int_arg(offsetof(IotaArgs, step), "step"),
};

inline Status check_iota(const LaunchShape& shape) {
  GE_TRY(check_axis(attr_int(shape.attrs, "axis", 0), shape.operands[0].rank));
  return check_writable(shape.operands[0], "out");
}

}  // namespace ge::kernels
