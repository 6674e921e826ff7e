// What the pad rows share: tables and the check. Entry: kPadOperands, kPadAttrs, kPadArgs, check_pad.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/pad/pad.h"

namespace ge::kernels {

inline constexpr OperandRow kPadOperands[] = {
    {.name = "in", .dtypes = kAllTypes},
    {.name = "value", .dtypes = kAllTypes, .optional = true},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes},
};
inline constexpr AttrRow kPadAttrs[] = {
    {.name = "mode", .min = 0, .max = 2, .required = false},
    {.name = "pads_begin", .type = AttrType::kInts, .min = -(int64_t{1} << 40), .max = int64_t{1} << 40},
};
inline constexpr ArgRow kPadArgs[] = {
    view_arg(offsetof(PadArgs, in), 0),
    view_arg(offsetof(PadArgs, value), 1),
    view_arg(offsetof(PadArgs, out), 2),
    int_arg(offsetof(PadArgs, pads_begin) + 0, "pads_begin", 0),
    int_arg(offsetof(PadArgs, pads_begin) + 8, "pads_begin", 1),
    int_arg(offsetof(PadArgs, pads_begin) + 16, "pads_begin", 2),
    int_arg(offsetof(PadArgs, pads_begin) + 24, "pads_begin", 3),
    int_arg(offsetof(PadArgs, pads_begin) + 32, "pads_begin", 4),
    int_arg(offsetof(PadArgs, pads_begin) + 40, "pads_begin", 5),
    int_arg(offsetof(PadArgs, pads_begin) + 48, "pads_begin", 6),
    int_arg(offsetof(PadArgs, pads_begin) + 56, "pads_begin", 7),
    int_arg(offsetof(PadArgs, mode), "mode"),
};
Status check_pad(const LaunchShape& shape);

}  // namespace ge::kernels
