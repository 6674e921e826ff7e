// The softmax step for AVX2. Entry: kSoftmaxRowsV3.
#define GE_VECTOR_BYTES 32
#define GE_SOFTMAX_ROWS kSoftmaxRowsV3
#include "kernels/attention/softmax_rows.inc"
