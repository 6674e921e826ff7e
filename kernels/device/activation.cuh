// The epilogue's activation: one uniform switch over the codes that is_epilogue_op
// (kernels/common/cuda_rows.h) accepts. Entry: activate. The functions are kernels/scalar.h's, in float or
// double.
#pragma once
#include "kernels/common/activation_args.h"
#include "kernels/scalar.h"

namespace ge::kernels {

template <class T>
__device__ __forceinline__ T activate(const Activation& a, T v) {
  const T b = static_cast<T>(a.alpha), c = static_cast<T>(a.beta);
  switch (static_cast<int>(a.op)) {
#define GE_ACTIVATION_1(name, code) \
  case code:                        \
    return scalar::name<T>(v);
#define GE_ACTIVATION_2(name, code) \
  case code:                        \
    return scalar::name<T>(v, b);
#define GE_ACTIVATION_3(name, code) \
  case code:                        \
    return scalar::name<T>(v, b, c);
#include "kernels/common/epilogue_ops.def"
#undef GE_ACTIVATION_1
#undef GE_ACTIVATION_2
#undef GE_ACTIVATION_3
    default:
      return v;
  }
}

}  // namespace ge::kernels
