// Every tile that dot_speed can time, for choosing those that kernels/dot/dot_wgmma.cu has:
//   nvcc -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -cubin -Ilib -I. -o tiles.cubin FILE
#include "kernels/dot/dot_wgmma.cuh"
#ifdef GE_SM90A
#define GE_TILE(rows, columns, across)                                                          \
  extern "C" __global__ void __launch_bounds__(                                                 \
      ge::kernels::WgmmaTile<ge::kernels::Half, rows, columns, across>::kBlockThreads, 1)       \
      t_##rows##x##columns##x##across(const __grid_constant__ ge::kernels::DotWgmmaArgs args) { \
    ge::kernels::dot_wgmma<ge::kernels::Half, rows, columns, across>(args);                     \
  }
GE_TILE(64, 32, 1)
GE_TILE(64, 64, 1)
GE_TILE(64, 96, 1)
GE_TILE(64, 128, 2)
GE_TILE(128, 64, 1)
GE_TILE(128, 96, 1)
GE_TILE(128, 128, 1)
GE_TILE(128, 144, 1)
GE_TILE(128, 192, 1)
GE_TILE(128, 256, 1)
#endif
