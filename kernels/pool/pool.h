// pool: max or average over sliding windows along 1 to 3 spatial axes of [N, C, in...]. Entry: PoolArgs; rows
// pool_*. Padding never wins a max (NaN does); a max over padding alone is the type's lowest value. Average
// divides by the window's positions inside the input, or with count_include_pad by those inside the padded
// input (what hangs over it, in ceil mode, is not counted); integers truncate; no position at all gives 0.
#pragma once
#include "contract/tensor_view.h"
#include "kernels/common/window_args.h"

namespace ge::kernels {

enum class PoolKind : int64_t { kMax = 0, kAverage };

struct PoolArgs {
  TensorView x, y;  // [N, C, in...], [N, C, out...]
  Window window;
  int64_t kernel[kMaxSpatial] = {};
  int64_t pads_end[kMaxSpatial] = {};
  int64_t kind = 0;  // PoolKind
  int64_t count_include_pad = 0;
};
static_assert(offsetof(PoolArgs, window) == 288 && offsetof(PoolArgs, kernel) == 360 &&
              offsetof(PoolArgs, pads_end) == 384 && offsetof(PoolArgs, kind) == 408 &&
              sizeof(PoolArgs) == 424);

}  // namespace ge::kernels
