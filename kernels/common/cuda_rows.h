// What CUDA rows share on the host side. Entry: kCudaBlock, kSimt80, is_epilogue_op, check_epilogue,
// check_block.
#pragma once
#include "kernels/common/activation.h"
#include "kernels/common/rows.h"

namespace ge::kernels {

// Every built-in CUDA kernel runs blocks of this many threads along x and loops over its work, so any
// one-axis grid is right.
inline constexpr int kCudaBlock = 256;
inline constexpr KernelLimits kSm80{.min_arch = 80, .max_threads = kCudaBlock};
// What device/element.cuh reads and writes.
inline constexpr DTypeSet kCudaRealTypes{DType::float64, DType::float32, DType::float16, DType::bfloat16};
inline constexpr DTypeSet kCudaTypes = kCudaRealTypes | kIntegerTypes | DTypeSet{DType::boolean};

inline bool is_epilogue_op(int64_t code) {
  switch (code) {
    case 0:
#define GE_ACTIVATION_1(name, code) case code:
#define GE_ACTIVATION_2(name, code) case code:
#define GE_ACTIVATION_3(name, code) case code:
#include "kernels/common/epilogue_ops.def"
#undef GE_ACTIVATION_1
#undef GE_ACTIVATION_2
#undef GE_ACTIVATION_3
      return true;
    default:
      return false;
  }
}
#define GE_ACTIVATION_1(name, code) static_assert(code == static_cast<int>(ScalarOp::name));
#define GE_ACTIVATION_2(name, code) static_assert(code == static_cast<int>(ScalarOp::name));
#define GE_ACTIVATION_3(name, code) static_assert(code == static_cast<int>(ScalarOp::name));
#include "kernels/common/epilogue_ops.def"
#undef GE_ACTIVATION_1
#undef GE_ACTIVATION_2
#undef GE_ACTIVATION_3

// Real results only: integer products take no activation on CUDA.
inline Status check_epilogue(const Attrs& attrs, DType dtype) {
  const int64_t code = attr_int(attrs, "activation", 0);
  if (code != 0 && (!is_epilogue_op(code) || !is_float(dtype)))
    return refuse("no epilogue for activation " + std::to_string(code));
  return {};
}

// A shape of {1,1,1} is a question about operands alone, asked before a geometry is chosen.
inline Status check_block(const LaunchShape& shape) {
  const auto& b = shape.block;
  const bool asked_early = b[0] == 1 && b[1] == 1 && b[2] == 1;
  if (asked_early || (b[0] == kCudaBlock && b[1] == 1 && b[2] == 1)) return {};
  return refuse("blocks of " + std::to_string(b[0] * b[1] * b[2]) + " threads, the kernel takes 256 along x");
}

}  // namespace ge::kernels
