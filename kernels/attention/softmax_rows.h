// One step of a softmax whose rows arrive a block of columns at a time, on the widest vectors the machine
// has. Entry: best_softmax_rows. A row's running maximum and sum stand for all columns seen so far; what was
// summed under an older maximum is to be scaled by the row's correction. Exponentials are vector_math.h's.
#pragma once
#include <cstdint>

namespace ge::kernels {

struct SoftmaxRows {
  // Row r of `scores`, `ld` floats apart: top[r] grows to the maximum of itself and the row's `count` scores,
  // these become exp(score - top[r]), and sum[r] = sum[r] * correction[r] + their sum. Before the first block
  // top is -inf and sum 0. Where all is -inf so far the exponentials are 0; a NaN, or +inf, makes the sum
  // NaN.
  void (*advance)(float* scores, int64_t rows, int64_t ld, int64_t count, float* top, float* sum,
                  float* correction);
  // values[i] *= factor for i < count.
  void (*scale)(float* values, int64_t count, float factor);
};

extern const SoftmaxRows kSoftmaxRowsV2;  // any machine, 16-byte vectors
#if defined(__x86_64__)
extern const SoftmaxRows kSoftmaxRowsV3;  // AVX2
extern const SoftmaxRows kSoftmaxRowsV4;  // AVX-512
#endif
const SoftmaxRows& best_softmax_rows();  // asks the machine once

}  // namespace ge::kernels
