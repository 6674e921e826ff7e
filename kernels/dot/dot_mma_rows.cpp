// Rows of dot_mma.cu.
#include "kernels/dot/dot_cuda_row.h"

namespace ge::kernels {
namespace {
constexpr auto kHalf = dot_operands({DType::float16});
constexpr auto kBHalf = dot_operands({DType::bfloat16});
constexpr KernelEfficiency kEfficiency{.of_peak = 0.45, .of_bandwidth = 0.3, .matrix_units = true};
}  // namespace

extern constinit const KernelRow dot_mma_f16_sm80_row =
    dot_cuda_row("dot_mma_f16_sm80", kHalf, "ge_dot_mma_f16", "dot_mma", kEfficiency,
                 "float16 matrix product on tensor cores, any sizes and strides");
extern constinit const KernelRow dot_mma_bf16_sm80_row =
    dot_cuda_row("dot_mma_bf16_sm80", kBHalf, "ge_dot_mma_bf16", "dot_mma", kEfficiency,
                 "bfloat16 matrix product on tensor cores, any sizes and strides");

}  // namespace ge::kernels
