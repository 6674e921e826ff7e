// The register tile for AVX-512: 14 x 32. Entry: kMicroKernelV4.
#define GE_VECTOR_BYTES 64
#define GE_ROWS 14
#define GE_MICRO_KERNEL kMicroKernelV4
#include "kernels/dot/micro_kernel.inc"
