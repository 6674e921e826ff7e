// sort_topk: positions along an axis of the out.dims[axis] best elements, best first. Entry: SortTopkArgs,
// sort_topk_reference. Best is greatest, or with largest = 0 smallest; NaN counts as greater than everything;
// of equals (0 and -0 too) the lower position comes first. Sizes: out has in's dims but for the axis, where
// it has no more.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct SortTopkArgs {
  TensorView in, out;  // out: int64
  int64_t axis = 0;
  int64_t largest = 0;
};
static_assert(offsetof(SortTopkArgs, axis) == 288 && offsetof(SortTopkArgs, largest) == 296 &&
              sizeof(SortTopkArgs) == 304);

}  // namespace ge::kernels
