// pad: out[i] = in[i - pads_begin] where that lies inside in, else by mode: the value operand (0 where
// absent), the reflected element (edge not repeated) or the nearest one. Entry: PadArgs, pad_reference. The
// end pads are what out's dims imply; pads may be negative (a crop).
#pragma once
#include <cstddef>

#include "contract/tensor_view.h"

namespace ge::kernels {

enum class PadMode : int64_t { kConstant = 0, kReflect, kEdge };

struct PadArgs {
  TensorView in, value, out;  // one dtype; value has one element
  int64_t pads_begin[kMaxRank] = {};
  int64_t mode = 0;  // PadMode
};
static_assert(offsetof(PadArgs, pads_begin) == 3 * 144 && offsetof(PadArgs, mode) == 3 * 144 + 64);

#if defined(__CUDACC__)
#define GE_PAD_FUNCTION __host__ __device__ inline
#else
#define GE_PAD_FUNCTION inline
#endif

// Where in [0, extent) the position p reads from, or -1 for the fill value.
GE_PAD_FUNCTION int64_t source_position(int64_t p, int64_t extent, PadMode mode) {
  if (p >= 0 && p < extent) return p;
  if (mode == PadMode::kConstant) return -1;
  if (mode == PadMode::kEdge) return p < 0 ? 0 : extent - 1;
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  int64_t q = p % period;
  if (q < 0) q += period;
  return q < extent ? q : period - q;
}

}  // namespace ge::kernels
