// What the gather rows share: tables, the check and the index rule. Entry: kGatherOperands, kGatherArgs,
// check_gather, resolve_index.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/gather/gather.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

inline constexpr OperandRow kGatherOperands[] = {
    {.name = "data", .dtypes = kAllTypes, .min_rank = 1},
    {.name = "indices", .dtypes = kIndexTypes},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes},
};
inline constexpr AttrRow kGatherAttrs[] = {{.name = "axis", .min = 0, .max = kMaxRank - 1}};
inline constexpr ArgRow kGatherArgs[] = {
    view_arg(offsetof(GatherArgs, data), 0),
    view_arg(offsetof(GatherArgs, indices), 1),
    view_arg(offsetof(GatherArgs, out), 2),
    int_arg(offsetof(GatherArgs, axis), "axis"),
};
Status check_gather(const LaunchShape& shape);

// The position in [0, extent) that `index` means, or -1 where extent is 0. Notes what is out of range.
inline int64_t resolve_index(int64_t index, int64_t extent, const LaunchContext& context) {
  const int64_t position = index < 0 ? index + extent : index;
  if (position >= 0 && position < extent) return position;
  context.note_fault(FaultKind::kIndexOutOfRange, index);
  if (extent == 0) return -1;
  return position < 0 ? 0 : extent - 1;
}

}  // namespace ge::kernels
