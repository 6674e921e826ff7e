// Rows of attention_mma.cu.
#include <algorithm>

#include "kernels/attention/attention_limits.h"
#include "kernels/attention/attention_row.h"
#include "kernels/common/cuda_rows.h"

namespace ge::kernels {
namespace {

constexpr auto kHalf = attention_operands({DType::float16});
constexpr auto kBHalf = attention_operands({DType::bfloat16});
constexpr int64_t kMaxLength = int64_t{1} << 30;  // rows, keys and tiles are counted in an int

// Heads in (least, most].
Status check_heads(const LaunchShape& shape, int64_t least, int64_t most) {
  GE_TRY(check_block(shape));
  GE_TRY(check_attention(shape));
  const TensorView &q = shape.operands[0], &k = shape.operands[1], &v = shape.operands[2];
  const int64_t size = std::max(q.dims[3], v.dims[3]);
  if (size > most || (size <= least && least > 0)) return refuse("heads of " + std::to_string(size));
  const auto rows =
      static_cast<double>(q.dims[0]) * static_cast<double>(q.dims[1]) * static_cast<double>(q.dims[2] + 128);
  if (rows > kMaxLength || k.dims[2] > kMaxLength)
    return refuse(dims_text(q) + " queries and " + std::to_string(k.dims[2]) + " keys");
  return {};
}
Status check_small(const LaunchShape& shape) {
  return check_heads(shape, 0, 64);
}
Status check_large(const LaunchShape& shape) {
  return check_heads(shape, 64, kMaxMmaHead);
}

constexpr KernelRow mma_row(std::string_view name, std::span<const OperandRow> operands,
                            std::string_view symbol, LaunchCheck check, std::string_view summary) {
  return {
      .name = name,
      .revision = 3,
      .device = KernelDevice::kCuda,
      .operands = operands,
      .attrs = kAttentionAttrs,
      .args_size = sizeof(AttentionArgs),
      .args = kAttentionArgs,
      .limits = kSm80,
      .check = check,
      .symbol = symbol,
      .image = "attention_mma",
      .waits_for_predecessor = true,
      .grid = KernelGrid::kQueryTiles,
      .efficiency = {.of_peak = 0.35, .of_bandwidth = 0.5, .matrix_units = true},
      .summary = summary,
  };
}

}  // namespace

extern constinit const KernelRow attention_mma64_f16_sm80_row =
    mma_row("attention_mma64_f16_sm80", kHalf, "ge_attention_mma64_f16", check_small,
            "float16 attention on tensor cores, heads up to 64");
extern constinit const KernelRow attention_mma64_bf16_sm80_row =
    mma_row("attention_mma64_bf16_sm80", kBHalf, "ge_attention_mma64_bf16", check_small,
            "bfloat16 attention on tensor cores, heads up to 64");
extern constinit const KernelRow attention_mma128_f16_sm80_row =
    mma_row("attention_mma128_f16_sm80", kHalf, "ge_attention_mma128_f16", check_large,
            "float16 attention on tensor cores, heads of 65 to 128");
extern constinit const KernelRow attention_mma128_bf16_sm80_row =
    mma_row("attention_mma128_bf16_sm80", kBHalf, "ge_attention_mma128_bf16", check_large,
            "bfloat16 attention on tensor cores, heads of 65 to 128");

}  // namespace ge::kernels
