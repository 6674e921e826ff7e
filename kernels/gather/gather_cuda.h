// Arguments of the CUDA gather kernels: the CPU's, and where to note a fault. Entry: GatherCudaArgs.
#pragma once
#include "kernels/gather/gather.h"

namespace ge::kernels {

struct GatherCudaArgs {
  TensorView data, indices, out;
  int64_t axis = 0;
  int64_t elements = 0;
  int64_t launch = 0;
  void* device_block = nullptr;
};
static_assert(offsetof(GatherCudaArgs, axis) == 432 && offsetof(GatherCudaArgs, elements) == 440 &&
              offsetof(GatherCudaArgs, launch) == 448 && offsetof(GatherCudaArgs, device_block) == 456 &&
              sizeof(GatherCudaArgs) == 464);

}  // namespace ge::kernels
