// Rows of conv_implicit_gemm.cu.
#include "kernels/conv/conv_cuda_row.h"

namespace ge::kernels {
namespace {
constexpr auto kHalf = conv_operands({DType::float16}, 4);
constexpr auto kBHalf = conv_operands({DType::bfloat16}, 4);
constexpr KernelEfficiency kEfficiency{.of_peak = 0.40, .of_bandwidth = 0.4, .matrix_units = true};
}  // namespace

extern constinit const KernelRow conv_implicit_gemm_f16_sm80_row = conv_cuda_row(
    "conv_implicit_gemm_f16_sm80", kHalf, check_conv_mma, "ge_conv_implicit_gemm_f16", "conv_implicit_gemm",
    KernelGrid::kConvTiles, kEfficiency, "float16 convolution on tensor cores, one or two spatial axes");
extern constinit const KernelRow conv_implicit_gemm_bf16_sm80_row =
    conv_cuda_row("conv_implicit_gemm_bf16_sm80", kBHalf, check_conv_mma, "ge_conv_implicit_gemm_bf16",
                  "conv_implicit_gemm", KernelGrid::kConvTiles, kEfficiency,
                  "bfloat16 convolution on tensor cores, one or two spatial axes");

}  // namespace ge::kernels
