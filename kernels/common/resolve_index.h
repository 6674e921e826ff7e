// The index rule of gather and scatter: a negative index counts from the end, one out of range is clamped and
// noted. Entry: resolve_index.
#pragma once
#include "kernels/launch_context.h"

namespace ge::kernels {

// The position in [0, extent) that `index` means, or -1 where extent is 0. Notes what is out of range.
inline int64_t resolve_index(int64_t index, int64_t extent, const LaunchContext& context) {
  const int64_t position = index < 0 ? index + extent : index;
  if (position >= 0 && position < extent) return position;
  context.note_fault(FaultKind::kIndexOutOfRange, index);
  if (extent == 0) return -1;
  return position < 0 ? 0 : extent - 1;
}

}  // namespace ge::kernels
