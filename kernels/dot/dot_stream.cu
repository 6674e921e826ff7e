// dot_stream_{n,k}<rows>_<type>_sm80: out = act(lhs rhs + bias + residual) for few rows, float sums; formula
// and threads: dot_stream.cuh. lhs is dense along k, rhs along n or k as the name says, steps along the other
// axis are of 16 bytes, and so are addresses. Registers: 64 (80 for floats) for one row, 128 for four.
#include "kernels/dot/dot_stream.cuh"

// `blocks` of 256 threads; before sm_90 the same code takes more registers.
#if __CUDA_ARCH__ >= 900
#define GE_STREAM_BLOCKS(blocks, by_depth) (by_depth ? (blocks) : (blocks) / 2)
#else
#define GE_STREAM_BLOCKS(blocks, by_depth) (by_depth ? (blocks) / 2 : ((blocks) + 3) / 4)
#endif

#define GE_STREAM_ENTRY(type, symbol, rows, blocks, by_depth)                                              \
  extern "C" __global__ void __launch_bounds__(ge::kernels::StreamShape{sizeof(type), by_depth}.threads(), \
                                               GE_STREAM_BLOCKS(blocks, by_depth))                         \
      symbol(const __grid_constant__ ge::kernels::DotStreamArgs args) {                                    \
    ge::kernels::dot_stream<type, rows, by_depth>(args);                                                   \
  }
#define GE_STREAM_KERNEL(type, name, rows, blocks)                           \
  GE_STREAM_ENTRY(type, ge_dot_stream_n##rows##_##name, rows, blocks, false) \
  GE_STREAM_ENTRY(type, ge_dot_stream_k##rows##_##name, rows, blocks, true)
#define GE_STREAM_ROWS(rows, blocks, float_blocks)         \
  GE_STREAM_KERNEL(ge::kernels::Half, f16, rows, blocks)   \
  GE_STREAM_KERNEL(ge::kernels::BHalf, bf16, rows, blocks) \
  GE_STREAM_KERNEL(float, f32, rows, float_blocks)
#include "kernels/dot/stream_rows.def"
