// What the CPU dot rows share: tables and check. Entry: kDotAttrs, kDotArgs, dot_operands, check_dot.
#pragma once
#include <array>

#include "kernels/common/activation.h"
#include "kernels/common/rows.h"
#include "kernels/dot/dot.h"

namespace ge::kernels {

inline constexpr DTypeSet kDotTypes =
    DTypeSet{DType::float64, DType::float32, DType::float16, DType::bfloat16} | kIntegerTypes;
constexpr std::array<OperandRow, 5> dot_operands(DTypeSet types, int16_t align_bytes = 1) {
  return {{
      {.name = "lhs", .dtypes = types, .min_rank = 2, .align_bytes = align_bytes},
      {.name = "rhs", .dtypes = types, .min_rank = 2, .align_bytes = align_bytes},
      {.name = "bias", .dtypes = types, .min_rank = 2, .optional = true},
      {.name = "out", .role = OperandRole::kOut, .dtypes = types, .min_rank = 2, .align_bytes = align_bytes},
      {.name = "residual", .dtypes = types, .min_rank = 2, .optional = true},
  }};
}
inline constexpr AttrRow kDotAttrs[] = {kActivationAttr, kActivationAlphaAttr, kActivationBetaAttr};
inline constexpr ArgRow kDotArgs[] = {
    view_arg(offsetof(DotArgs, lhs), 0),
    view_arg(offsetof(DotArgs, rhs), 1),
    view_arg(offsetof(DotArgs, bias), 2),
    view_arg(offsetof(DotArgs, out), 3),
    view_arg(offsetof(DotArgs, residual), 4),
    int_arg(offsetof(DotArgs, activation) + 0, "activation"),
    float_arg(offsetof(DotArgs, activation) + 8, "activation_alpha"),
    float_arg(offsetof(DotArgs, activation) + 16, "activation_beta"),
};
Status check_dot(const LaunchShape& shape);

}  // namespace ge::kernels
