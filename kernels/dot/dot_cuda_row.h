// What the CUDA rows of dot share: the check, and a row from what is its own.
#pragma once
#include "kernels/common/cuda_rows.h"
#include "kernels/dot/dot_row.h"

namespace ge::kernels {

inline Status check_dot_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  GE_TRY(check_epilogue(shape.attrs, shape.operands[3].dtype));
  return check_dot(shape);
}

constexpr KernelRow dot_cuda_row(std::string_view name, std::span<const OperandRow> operands,
                                 std::string_view symbol, std::string_view image, KernelGrid grid,
                                 KernelEfficiency efficiency, std::string_view summary,
                                 uint32_t revision = 1) {
  return {
      .name = name,
      .revision = revision,
      .device = KernelDevice::kCuda,
      .operands = operands,
      .attrs = kDotAttrs,
      .args_size = sizeof(DotArgs),
      .args = kDotArgs,
      .limits = kSm80,
      .check = check_dot_cuda,
      .symbol = symbol,
      .image = image,
      .grid = grid,
      .efficiency = efficiency,
      .summary = summary,
  };
}

}  // namespace ge::kernels
