// The softmax step for AVX-512. Entry: kSoftmaxRowsV4.
#define GE_VECTOR_BYTES 64
#define GE_SOFTMAX_ROWS kSoftmaxRowsV4
#include "kernels/attention/softmax_rows.inc"
