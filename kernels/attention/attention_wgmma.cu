// attention_wgmma{64,128}_{f16,bf16}_sm90: out = softmax(scale q k') v, scores in registers, float sums, p
// rounded to the operands' type; threads and barriers: attention_wgmma.cuh. q, k, v and out have a dense head
// axis, steps of 8 elements along the others and 16-byte addresses. Two blocks a multiprocessor, one for
// heads beyond 64. On architectures other than sm_90a the entries are empty: their rows say so.
#include "kernels/attention/attention_wgmma.cuh"

#ifdef GE_SM90A
#define GE_ATTENTION_BODY(type, head) ge::kernels::attention_wgmma<type, head>(args)
#define GE_ATTENTION_BOUNDS(head) __launch_bounds__(ge::kernels::kAttentionThreads, head == 64 ? 2 : 1)
#else
#define GE_ATTENTION_BODY(type, head)
#define GE_ATTENTION_BOUNDS(head)
#endif

#define GE_ATTENTION_KERNEL(type, name, head)                                                           \
  extern "C" __global__ void GE_ATTENTION_BOUNDS(head)                                                  \
      ge_attention_wgmma##head##_##name(const __grid_constant__ ge::kernels::AttentionWgmmaArgs args) { \
    GE_ATTENTION_BODY(type, head);                                                                      \
  }
GE_ATTENTION_KERNEL(ge::kernels::Half, f16, 64)
GE_ATTENTION_KERNEL(ge::kernels::BHalf, bf16, 64)
GE_ATTENTION_KERNEL(ge::kernels::Half, f16, 128)
GE_ATTENTION_KERNEL(ge::kernels::BHalf, bf16, 128)
