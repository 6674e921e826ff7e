// The register tile for AVX2 and FMA: 6 x 16. Entry: kMicroKernelV3.
#define GE_VECTOR_BYTES 32
#define GE_ROWS 6
#define GE_MICRO_KERNEL kMicroKernelV3
#include "kernels/dot/micro_kernel.inc"
