// gather: out[p, q, r] = data[p, index(q), r] where p are data's axes before `axis`, q all of indices' axes,
// r data's axes after; with `elements`, where indices has data's rank, out[p, q, r] = data[p, index(p, q, r),
// r] over indices' dims. Entry: GatherArgs, gather_reference. A negative index counts from the end; one out
// of range is clamped and noted as a fault (where the axis is empty there is nothing to clamp to: out gets
// zeros).
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct GatherArgs {
  TensorView data, indices, out;
  int64_t axis = 0;
  int64_t elements = 0;  // 1: each element of out has an index of its own
};
static_assert(offsetof(GatherArgs, axis) == 432 && offsetof(GatherArgs, elements) == 440 &&
              sizeof(GatherArgs) == 448);

}  // namespace ge::kernels
