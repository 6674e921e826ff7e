// Notes the first fault of a run in the device block, as LaunchContext::note_fault does on the CPU. Entry:
// note_fault.
#pragma once
#include "kernels/launch_context.h"

namespace ge::kernels {

__device__ inline void note_fault(void* device_block, FaultKind kind, int64_t launch, int64_t value) {
  auto* fault = static_cast<FaultRecord*>(device_block);
  if (atomicCAS(&fault->kind, 0u, 0xffffffffu) != 0) return;
  fault->launch = static_cast<uint32_t>(launch);
  fault->value = value;
  __threadfence();
  atomicExch(&fault->kind, static_cast<uint32_t>(kind));
}

}  // namespace ge::kernels
