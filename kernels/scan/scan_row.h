// What the scan rows share: tables and the check. Entry: kScanOperands, kScanAttrs, kScanArgs, check_scan.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/scan/scan.h"

namespace ge::kernels {

inline constexpr OperandRow kScanOperands[] = {
    {.name = "in", .dtypes = kNumberTypes, .min_rank = 1},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kNumberTypes, .min_rank = 1},
};
inline constexpr AttrRow kScanAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank - 1},
    {.name = "exclusive", .min = 0, .max = 1, .required = false},
    {.name = "reverse", .min = 0, .max = 1, .required = false},
};
inline constexpr ArgRow kScanArgs[] = {
    view_arg(offsetof(ScanArgs, in), 0),
    view_arg(offsetof(ScanArgs, out), 1),
    int_arg(offsetof(ScanArgs, axis), "axis"),
    int_arg(offsetof(ScanArgs, exclusive), "exclusive"),
    int_arg(offsetof(ScanArgs, reverse), "reverse"),
};

inline Status check_scan(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &out = shape.operands[1];
  GE_TRY(check_axis(attr_int(shape.attrs, "axis", 0), in.rank));
  GE_TRY(check_same_dtype(in, "in", out, "out"));
  GE_TRY(check_same_dims(in, "in", out, "out"));
  return check_writable(out, "out");
}

}  // namespace ge::kernels
