// Scalar ops by code over the reference types: what reference kernels call. Entry: apply_real, apply_integer.
// Reals are computed in double and rounded by the caller's store; integers are computed in the element type
// itself.
#pragma once
#include <cstdint>

#include "numeric/dtype.h"

namespace ge::scalar {

// A row of scalar_ops.def in double. Compare ops give 0 or 1; select takes its condition in `a` (nonzero:
// true). Operands past the op's arity are not read. Precondition: the op's domain takes floating point
// (number, real, any).
double apply_real(uint16_t code, double a, double b, double c);

// A row of scalar_ops.def in an integer type or boolean; the result wraps to `dtype` (sign- or zero-extended;
// uint64 as its bits). Operands travel the same way. Compare ops give 0 or 1; select takes its condition in
// `a`. Precondition: the op's domain takes `dtype`, which is no float type; a code that does not apply gives
// 0.
int64_t apply_integer(uint16_t code, DType dtype, int64_t a, int64_t b, int64_t c);

}  // namespace ge::scalar
