// A launch that may begin before its predecessor is done (programmatic dependent launch), from sm_90 on;
// before, both do nothing. Entry: wait_for_predecessor, launch_dependents.
#pragma once

namespace ge::kernels {

// What the predecessors wrote is seen after this, and what they read may be written.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// The next launch may begin once every block has said so; it waits by itself for what this one writes.
__device__ __forceinline__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace ge::kernels
