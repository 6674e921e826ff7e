// reduce: folds the axes in a bit mask. Entry: ReduceArgs, ReduceKind, reduce_reference.
// out has in's rank with 1 on the reduced axes. Sums run in ascending row-major order. Empty: sum 0, prod 1,
// max and min the type's lowest and highest (infinities for real types), mean NaN (0 for integers), arg
// max/min 0. NaN wins max and min; arg max/min take the first NaN. Positions are row-major within the reduced
// axes.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

enum class ReduceKind : int64_t { kSum = 0, kProd, kMax, kMin, kMean, kArgMax, kArgMin };
inline constexpr int64_t kReduceKinds = 7;

struct ReduceArgs {
  TensorView in, out;
  int64_t kind = 0;         // ReduceKind
  int64_t axes = 0;         // bit i: axis i is reduced
  int64_t select_last = 0;  // arg max/min: 1 takes the last of equals
};
static_assert(offsetof(ReduceArgs, out) == 144 && offsetof(ReduceArgs, kind) == 288 &&
              offsetof(ReduceArgs, axes) == 296 && offsetof(ReduceArgs, select_last) == 304 &&
              sizeof(ReduceArgs) == 312);

}  // namespace ge::kernels
