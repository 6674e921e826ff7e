// Chooses the table of inner loops by what this processor has. Entry: loop_kernels.
#include "runtime/cpu/loop_kernels.h"

namespace ge::cpu {

#if defined(__x86_64__)
namespace {
bool have_v3() {
  static const bool have = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  return have;
}
bool have_v4() {
  static const bool have = have_v3() && __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return have;
}
}  // namespace

const LoopKernels& loop_kernels(LoopIsa isa) {
  if ((isa == LoopIsa::kBest || isa == LoopIsa::kV4) && have_v4()) return loop_kernels_v4();
  if (isa != LoopIsa::kBase && have_v3()) return loop_kernels_v3();
  return loop_kernels_base();
}
#else
const LoopKernels& loop_kernels(LoopIsa) {
  return loop_kernels_base();
}
#endif

}  // namespace ge::cpu
