// Rows of dot_mma.cu.
#include "kernels/dot/dot_cuda_row.h"

namespace ge::kernels {
namespace {
constexpr auto kHalf = dot_operands({DType::float16});
constexpr auto kBHalf = dot_operands({DType::bfloat16});
constexpr KernelEfficiency kEfficiency{
    .of_peak = 0.45, .of_bandwidth = 0.3, .matrix_units = true, .start_us = 2};

Status check_dot_mma(const LaunchShape& shape) {
  GE_TRY(check_dot_cuda(shape));
  const int64_t depth = shape.operands[0].dims[shape.operands[0].rank - 1];
  return depth <= int64_t{1} << 30 ? Status()
                                   : refuse("a depth of " + std::to_string(depth) + ", up to 2^30 is taken");
}
constexpr KernelRow mma_row(std::string_view name, std::span<const OperandRow> operands,
                            std::string_view symbol, std::string_view summary) {
  KernelRow row =
      dot_cuda_row(name, operands, symbol, "dot_mma", KernelGrid::kSplitProductTiles, kEfficiency, summary);
  row.check = check_dot_mma;
  return row;
}
}  // namespace

extern constinit const KernelRow dot_mma_f16_sm80_row =
    mma_row("dot_mma_f16_sm80", kHalf, "ge_dot_mma_f16",
            "float16 matrix product on tensor cores, any sizes and strides");
extern constinit const KernelRow dot_mma_bf16_sm80_row =
    mma_row("dot_mma_bf16_sm80", kBHalf, "ge_dot_mma_bf16",
            "bfloat16 matrix product on tensor cores, any sizes and strides");

}  // namespace ge::kernels
