// What both CPU copy rows share: operand and argument tables and the check. Entry: kCopyOperands, kCopyArgs,
// check_copy.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/copy/copy.h"

namespace ge::kernels {

inline constexpr OperandRow kCopyOperands[] = {
    {.name = "in", .dtypes = kAllTypes},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes},
};
inline constexpr ArgRow kCopyArgs[] = {view_arg(offsetof(CopyArgs, in), 0),
                                       view_arg(offsetof(CopyArgs, out), 1)};

inline Status check_copy(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &out = shape.operands[1];
  GE_TRY(check_same_dims(in, "in", out, "out"));
  if (bits_of(in.dtype) != bits_of(out.dtype)) GE_TRY(check_same_dtype(in, "in", out, "out"));
  return check_writable(out, "out");
}

}  // namespace ge::kernels
