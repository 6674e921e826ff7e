// What the CPU pool rows share: tables and check. Entry: pool_operands, kPoolAttrs, kPoolArgs, check_pool.
#pragma once
#include <array>

#include "kernels/common/window.h"
#include "kernels/pool/pool.h"

namespace ge::kernels {

constexpr std::array<OperandRow, 2> pool_operands(DTypeSet types, int8_t max_rank = 2 + kMaxSpatial) {
  return {{
      {.name = "x", .dtypes = types, .min_rank = 3, .max_rank = max_rank},
      {.name = "y", .role = OperandRole::kOut, .dtypes = types, .min_rank = 3, .max_rank = max_rank},
  }};
}
inline constexpr AttrRow kPoolAttrs[] = {
    {.name = "count_include_pad", .min = 0, .max = 1, .required = false},
    kDilationsAttr,
    {.name = "kernel", .type = AttrType::kInts, .min = 1, .max = kMaxWindow},
    {.name = "kind", .min = 0, .max = 1},
    kPadsBeginAttr,
    {.name = "pads_end", .type = AttrType::kInts, .min = -kMaxWindow, .max = kMaxWindow},
    kStridesAttr,
};
inline constexpr ArgRow kPoolArgs[] = {
    view_arg(offsetof(PoolArgs, x), 0),
    view_arg(offsetof(PoolArgs, y), 1),
    GE_WINDOW_ARGS(offsetof(PoolArgs, window)),
    int_arg(offsetof(PoolArgs, kernel) + 0, "kernel", 0),
    int_arg(offsetof(PoolArgs, kernel) + 8, "kernel", 1),
    int_arg(offsetof(PoolArgs, kernel) + 16, "kernel", 2),
    int_arg(offsetof(PoolArgs, pads_end) + 0, "pads_end", 0),
    int_arg(offsetof(PoolArgs, pads_end) + 8, "pads_end", 1),
    int_arg(offsetof(PoolArgs, pads_end) + 16, "pads_end", 2),
    int_arg(offsetof(PoolArgs, kind), "kind"),
    int_arg(offsetof(PoolArgs, count_include_pad), "count_include_pad"),
};
Status check_pool(const LaunchShape& shape);

}  // namespace ge::kernels
