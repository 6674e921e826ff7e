// The softmax step for any machine. Entry: kSoftmaxRowsV2.
#define GE_VECTOR_BYTES 16
#define GE_SOFTMAX_ROWS kSoftmaxRowsV2
#include "kernels/attention/softmax_rows.inc"
