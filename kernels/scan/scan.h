// scan: sums along an axis: out[i] = in[0] + ... + in[i] (up to in[i-1] where exclusive, 0 first); in reverse
// from the end. Entry: ScanArgs, scan_reference. Sums run in double or int64 (which wraps) and are rounded as
// they are stored.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct ScanArgs {
  TensorView in, out;  // equal dims
  int64_t axis = 0;
  int64_t exclusive = 0, reverse = 0;
};
static_assert(offsetof(ScanArgs, axis) == 288 && offsetof(ScanArgs, exclusive) == 296 &&
              offsetof(ScanArgs, reverse) == 304 && sizeof(ScanArgs) == 312);

}  // namespace ge::kernels
