// What the CPU conv rows share: tables and check. Entry: conv_operands, kConvAttrs, kConvArgs, check_conv.
#pragma once
#include <array>

#include "kernels/common/activation.h"
#include "kernels/common/window.h"
#include "kernels/conv/conv.h"

namespace ge::kernels {

constexpr std::array<OperandRow, 5> conv_operands(DTypeSet types, int8_t max_rank = 2 + kMaxSpatial) {
  return {{
      {.name = "x", .dtypes = types, .min_rank = 3, .max_rank = max_rank},
      {.name = "w", .dtypes = types, .min_rank = 3, .max_rank = max_rank},
      {.name = "bias", .dtypes = types, .min_rank = 1, .max_rank = 1, .optional = true},
      {.name = "y", .role = OperandRole::kOut, .dtypes = types, .min_rank = 3, .max_rank = max_rank},
      {.name = "residual", .dtypes = types, .min_rank = 3, .max_rank = max_rank, .optional = true},
  }};
}
inline constexpr AttrRow kConvAttrs[] = {
    kActivationAttr, kActivationAlphaAttr, kActivationBetaAttr, kDilationsAttr, {.name = "groups", .min = 1},
    kPadsBeginAttr,  kStridesAttr,
};
inline constexpr ArgRow kConvArgs[] = {
    view_arg(offsetof(ConvArgs, x), 0),
    view_arg(offsetof(ConvArgs, w), 1),
    view_arg(offsetof(ConvArgs, bias), 2),
    view_arg(offsetof(ConvArgs, y), 3),
    view_arg(offsetof(ConvArgs, residual), 4),
    GE_WINDOW_ARGS(offsetof(ConvArgs, window)),
    int_arg(offsetof(ConvArgs, groups), "groups"),
    int_arg(offsetof(ConvArgs, activation) + 0, "activation"),
    float_arg(offsetof(ConvArgs, activation) + 8, "activation_alpha"),
    float_arg(offsetof(ConvArgs, activation) + 16, "activation_beta"),
};
Status check_conv(const LaunchShape& shape);

}  // namespace ge::kernels
