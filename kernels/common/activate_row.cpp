// Chooses the instruction set of activate_row by what this processor has.
#include "kernels/common/activate_row.h"

namespace ge::kernels {
namespace {

ActivateFunction best() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return kActivateRowV4;
  if (__builtin_cpu_supports("avx2")) return kActivateRowV3;
#endif
  return kActivateRowV2;
}

}  // namespace

void activate_row(const Activation& activation, float* values, int64_t count) {
  static const ActivateFunction function = best();
  function(activation, values, count);
}

}  // namespace ge::kernels
