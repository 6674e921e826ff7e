// pad: out[i] = in[i - pads_begin] where that lies inside in, else by mode: the value operand (0 where absent), the reflected
// element (edge not repeated) or the nearest one. Entry: PadArgs, pad_reference. The end pads are what out's dims imply; pads may
// be negative (a crop).
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

enum class PadMode : int64_t { kConstant = 0, kReflect, kEdge };

struct PadArgs {
  TensorView in, value, out;  // one dtype; value has one element
  int64_t pads_begin[kMaxRank] = {};
  int64_t mode = 0;  // PadMode
};
static_assert(offsetof(PadArgs, pads_begin) == 3 * 144 && offsetof(PadArgs, mode) == 3 * 144 + 64);

}  // namespace ge::kernels
