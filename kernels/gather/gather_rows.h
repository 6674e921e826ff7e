// Arguments of gather_rows.cu. Entry: GatherRowsArgs.
#pragma once
#include <cstddef>

#include "contract/tensor_view.h"

namespace ge::kernels {

// out[i, :] = data[indices[i], :] where data, indices and out are dense.
struct GatherRowsArgs {
  TensorView data, indices;
  void* out = nullptr;
  int64_t rows = 0;    // of out
  int64_t length = 0;  // elements of a row
  int64_t launch = 0;
  void* device_block = nullptr;
};
static_assert(offsetof(GatherRowsArgs, out) == 288 && offsetof(GatherRowsArgs, rows) == 296 &&
              offsetof(GatherRowsArgs, length) == 304 && offsetof(GatherRowsArgs, launch) == 312 &&
              offsetof(GatherRowsArgs, device_block) == 320 && sizeof(GatherRowsArgs) == 328);

}  // namespace ge::kernels
