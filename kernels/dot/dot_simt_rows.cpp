// Rows of dot_simt.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/dot/dot_row.h"

namespace ge::kernels {
namespace {

Status check_dot_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  GE_TRY(check_epilogue(shape.attrs, shape.operands[3].dtype));
  return check_dot(shape);
}
constexpr auto kFloat = dot_operands({DType::float32});
constexpr auto kAny = dot_operands(kCudaRealTypes | kIntegerTypes);

}  // namespace

extern constinit const KernelRow dot_tiled_f32_sm80_row = {
    .name = "dot_tiled_f32_sm80",
    .device = KernelDevice::kCuda,
    .operands = kFloat,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .limits = kSm80,
    .check = check_dot_cuda,
    .symbol = "ge_dot_tiled_f32",
    .image = "dot_simt",
    .summary = "float32 matrix product by 64 x 64 tiles, any sizes and strides",
};
extern constinit const KernelRow dot_generic_sm80_row = {
    .name = "dot_generic_sm80",
    .device = KernelDevice::kCuda,
    .operands = kAny,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .limits = kSm80,
    .check = check_dot_cuda,
    .symbol = "ge_dot_generic",
    .image = "dot_simt",
    .summary = "matrix product of any type, one thread a result",
};

}  // namespace ge::kernels
