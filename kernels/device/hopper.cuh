// Instructions of sm_90a, one a function: barriers in shared memory, bulk tensor copies, clusters. Entry:
// barrier_*, copy_tile, cluster_*, send_to. Only in code under GE_SM90A: other architectures do not have
// them.
#pragma once
#include "kernels/device/dependent_launch.cuh"
#include "kernels/device/ptx.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GE_SM90A 1
#endif

namespace ge::kernels {

// A tensor map as the executor encodes it (CUtensorMap).
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

#ifdef GE_SM90A

// True for one thread of a whole warp.
__device__ __forceinline__ bool is_elected() {
  unsigned elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
// After barrier_init: the copy engine and other blocks of the cluster see the barriers.
__device__ __forceinline__ void barriers_made() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
// Waits for the end of the phase of that parity; the copies that it counts are seen after. No waiter may be
// more than one phase behind: its parity would be the next phase's.
__device__ __forceinline__ bool barrier_try(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  while (!barrier_try(barrier, parity)) {
  }
}
// The same for what other blocks of the cluster sent.
__device__ __forceinline__ void barrier_wait_for_cluster(unsigned barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}

__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
// A box of a two-axis tensor to shared memory; x counts along the dense axis.
__device__ __forceinline__ void copy_tile(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// Along x, which clusters and grid have alone. Where the launch names no cluster every block is one.
struct ClusterPlace {
  int size, rank, cluster, clusters;
};
__device__ __forceinline__ ClusterPlace cluster_place() {
  ClusterPlace p;
  asm("{\n"
      ".reg .pred named;\n"
      "mov.pred named, %%is_explicit_cluster;\n"
      "mov.u32 %0, 1;\n"
      "mov.u32 %1, 0;\n"
      "mov.u32 %2, %%ctaid.x;\n"
      "mov.u32 %3, %%nctaid.x;\n"
      "@named mov.u32 %0, %%cluster_nctaid.x;\n"
      "@named mov.u32 %1, %%cluster_ctarank;\n"
      "@named mov.u32 %2, %%clusterid.x;\n"
      "@named mov.u32 %3, %%nclusterid.x;\n"
      "}"
      : "=r"(p.size), "=r"(p.rank), "=r"(p.cluster), "=r"(p.clusters));
  return p;
}
// The first orders no memory: it says that the block runs, whose shared memory may then be written.
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The same place in the shared memory of another block of the cluster.
__device__ __forceinline__ unsigned in_block(unsigned address, int block) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
// Sixteen bytes to shared memory of any block of the cluster, this one too, which counts them on its barrier.
__device__ __forceinline__ void send_to(unsigned there, unsigned barrier_there, float a, float b, float c,
                                        float d) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          there),
      "f"(a), "f"(b), "f"(c), "f"(d), "r"(barrier_there)
      : "memory");
}
// What another kernel may have written: not through the read-only path.
__device__ __forceinline__ uint4 load_global(const void* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ void store_global(void* to, const uint4& v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ __forceinline__ unsigned load_global_word(const void* from) {
  unsigned v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
  return v;
}
// Four matrices of 8 x 8 elements of 16 bits; lanes 8 i .. 8 i + 7 name the rows of matrix i, a lane has two
// elements of each: row lane / 4, columns 2 (lane % 4) and the next.
__device__ __forceinline__ void store_matrices(unsigned there, const unsigned (&w)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(w[0]),
               "r"(w[1]), "r"(w[2]), "r"(w[3])
               : "memory");
}
__device__ __forceinline__ void load_matrices(unsigned from, unsigned (&w)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void store_shared(unsigned there, const uint4& v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ __forceinline__ uint4 load_shared_words(unsigned from) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(from)
               : "memory");
  return v;
}
__device__ __forceinline__ void store_shared(unsigned there, float a, float b, float c, float d) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there), "f"(a), "f"(b), "f"(c), "f"(d)
               : "memory");
}
__device__ __forceinline__ void store_shared(unsigned there, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(there), "f"(a), "f"(b) : "memory");
}
__device__ __forceinline__ void load_shared(unsigned from, float& a, float& b) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(from) : "memory");
}

__device__ __forceinline__ unsigned shared_memory_bytes() {
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

#endif  // GE_SM90A

}  // namespace ge::kernels
