// iota: out[i...] = start + step * i[axis]. Entry: IotaArgs, iota_reference.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct IotaArgs {
  TensorView out;
  int64_t axis = 0;
  int64_t start = 0;
  int64_t step = 1;  // 0 (what an absent attribute packs as) means 1
};
static_assert(offsetof(IotaArgs, axis) == 144 && offsetof(IotaArgs, start) == 152 &&
              offsetof(IotaArgs, step) == 160);

}  // namespace ge::kernels
