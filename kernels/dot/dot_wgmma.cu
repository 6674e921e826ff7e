// dot_wgmma_<rows>x<columns>_<type>_sm90: out = act(lhs rhs + bias + residual), float sums, 16-bit elements;
// formula and threads: dot_wgmma.cuh. Both matrices have one dense axis, steps of 8 elements along the other
// and 16-byte addresses (bulk tensor copies ask it); n is a multiple of 8. On architectures other than sm_90a
// the entries are empty: their rows say so.
#include "kernels/dot/dot_wgmma.cuh"

#ifdef GE_SM90A
#define GE_WGMMA_ENTRY(type, rows, columns, across) \
  __launch_bounds__(ge::kernels::WgmmaTile<type, rows, columns, across>::kBlockThreads, 1)
#define GE_WGMMA_BODY(type, rows, columns, across) ge::kernels::dot_wgmma<type, rows, columns, across>(args)
#else
#define GE_WGMMA_ENTRY(type, rows, columns, across)
#define GE_WGMMA_BODY(type, rows, columns, across)
#endif

#define GE_WGMMA_KERNEL(type, name, rows, columns, across)                                               \
  extern "C" __global__ void GE_WGMMA_ENTRY(type, rows, columns, across)                                 \
      ge_dot_wgmma_##rows##x##columns##_##name(const __grid_constant__ ge::kernels::DotWgmmaArgs args) { \
    GE_WGMMA_BODY(type, rows, columns, across);                                                          \
  }
#define GE_WGMMA_TILE(rows, columns, across)                     \
  GE_WGMMA_KERNEL(ge::kernels::Half, f16, rows, columns, across) \
  GE_WGMMA_KERNEL(ge::kernels::BHalf, bf16, rows, columns, across)
#include "kernels/dot/wgmma_tiles.def"
