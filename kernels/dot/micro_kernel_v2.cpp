// The register tile for any machine: 4 x 8 with 16-byte vectors. Entry: kMicroKernelV2.
#define GE_VECTOR_BYTES 16
#define GE_ROWS 4
#define GE_MICRO_KERNEL kMicroKernelV2
#include "kernels/dot/micro_kernel.inc"
