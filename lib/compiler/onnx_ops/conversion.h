// Conversions and products that several operators share. Entry: convert_saturating,
// quantize_rounded, matrix_product.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// x as `to`, as ONNX Cast does it: where `saturates` is false, floats beyond float8e4m3fn's range become NaN;
// float8e5m2 is refused then (its infinities saturate wherever they are stored).
ValueId convert_saturating(OpContext& c, ValueId x, DType to, bool saturates);

// round(quotient) + zero point, ties to even, cut to the range of the integer type `to`. The quotient is
// float32 or wider; the zero point (kNone: 0) broadcasts to it.
ValueId quantize_rounded(OpContext& c, ValueId quotient, ValueId zero_point, DType to);

// MatMul of two values of one dtype by numpy's rules; they stand for inputs `a_input` and `b_input` in
// messages.
ValueId matrix_product(OpContext& c, ValueId a, size_t a_input, ValueId b, size_t b_input);

}  // namespace ge
