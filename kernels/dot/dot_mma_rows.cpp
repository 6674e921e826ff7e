// Rows of dot_mma.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/dot/dot_row.h"

namespace ge::kernels {
namespace {

Status check_dot_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  GE_TRY(check_epilogue(shape.attrs, shape.operands[3].dtype));
  return check_dot(shape);
}
constexpr auto kHalf = dot_operands({DType::float16});
constexpr auto kBHalf = dot_operands({DType::bfloat16});

}  // namespace

extern constinit const KernelRow dot_mma_f16_sm80_row = {
    .name = "dot_mma_f16_sm80",
    .device = KernelDevice::kCuda,
    .operands = kHalf,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .limits = kSm80,
    .check = check_dot_cuda,
    .symbol = "ge_dot_mma_f16",
    .image = "dot_mma",
    .summary = "float16 matrix product on tensor cores, any sizes and strides",
};
extern constinit const KernelRow dot_mma_bf16_sm80_row = {
    .name = "dot_mma_bf16_sm80",
    .device = KernelDevice::kCuda,
    .operands = kBHalf,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .limits = kSm80,
    .check = check_dot_cuda,
    .symbol = "ge_dot_mma_bf16",
    .image = "dot_mma",
    .summary = "bfloat16 matrix product on tensor cores, any sizes and strides",
};

}  // namespace ge::kernels
