// One GPU as the rest of cuda/ sees it: driver functions, device, context and its facts. Entry: Gpu.
#pragma once
#include "runtime/cuda/driver_symbols.h"

namespace ge::cuda {

struct Gpu {
  const Driver* api = nullptr;
  CUdevice device = 0;
  CUcontext context = nullptr;
  int arch = 0;  // 90
  int multiprocessors = 0;
  int max_shared_memory = 0;      // bytes of dynamic shared memory a block may opt in to
  bool virtual_memory = false;    // cuMemCreate and friends work
  int64_t granularity = 2 << 20;  // of cuMemCreate
  int64_t total_memory_bytes = 0;
};

}  // namespace ge::cuda
