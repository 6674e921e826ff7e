// Clusters of four blocks on sm_90, which read each other's shared memory; of one block before. Entry:
// GE_CLUSTER_OF_4 (on a kernel, whose grid is then a multiple of 4 along x, on every architecture),
// cluster_rank, cluster_sync, add_parts.
#pragma once
#include "kernels/device/ptx.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define GE_CLUSTER_OF_4 __cluster_dims__(4, 1, 1)
#else
#define GE_CLUSTER_OF_4
#endif

namespace ge::kernels {

inline constexpr int kClusterBlocks = 4;

__device__ __forceinline__ constexpr int cluster_blocks() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return kClusterBlocks;
#else
  return 1;
#endif
}
__device__ __forceinline__ int cluster_rank() {
  int rank = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
// All threads of all blocks; what they wrote to shared memory before is seen after.
__device__ __forceinline__ void cluster_sync() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
#endif
}
// Eight floats in this block's shared memory become the sum, in the order of ranks, of those at the same
// place in blocks first .. first + parts. No other block reads them.
__device__ __forceinline__ void add_parts(float* sums, int first, int parts) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  float total[8] = {};
  const unsigned here = shared_address(sums);
#pragma unroll 1
  for (int p = 0; p < parts; ++p) {
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(first + p));
#pragma unroll
    for (int e = 0; e < 8; e += 4) {
      float v[4];
      asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
                   : "r"(there + e * 4));
#pragma unroll
      for (int i = 0; i < 4; ++i) total[e + i] += v[i];
    }
  }
#pragma unroll
  for (int e = 0; e < 8; ++e) sums[e] = total[e];
#endif
}

}  // namespace ge::kernels
