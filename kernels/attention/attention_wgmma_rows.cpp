// Rows of attention_wgmma.cu.
#include <algorithm>

#include "kernels/attention/attention_limits.h"
#include "kernels/attention/attention_row.h"
#include "kernels/attention/attention_wgmma.h"
#include "kernels/common/arg_rows.h"
#include "kernels/common/cuda_rows.h"

namespace ge::kernels {
namespace {

constexpr std::array<OperandRow, 5> aligned(DType dtype) {
  std::array<OperandRow, 5> operands = attention_operands({dtype});
  for (const size_t i : {0, 1, 2, 4}) operands[i].align_bytes = 16;
  return operands;
}
constexpr auto kHalf = aligned(DType::float16), kBHalf = aligned(DType::bfloat16);

constexpr AttrRow kAttrs[] = {
    {.name = "box0", .type = AttrType::kInts, .min = 1, .max = 256, .required = false},
    {.name = "box1", .type = AttrType::kInts, .min = 1, .max = 256, .required = false},
    {.name = "box2", .type = AttrType::kInts, .min = 1, .max = 256, .required = false},
    {.name = "causal", .min = 0, .max = 2},
    {.name = "fill", .type = AttrType::kFloat},
    {.name = "scale", .type = AttrType::kFloat},
    {.name = "swizzle0", .min = 0, .max = 128, .required = false},
    {.name = "swizzle1", .min = 0, .max = 128, .required = false},
    {.name = "swizzle2", .min = 0, .max = 128, .required = false},
    {.name = "zero_empty", .min = 0, .max = 1},
};

constexpr ArgRow kArgs[] = {
    map_arg(offsetof(AttentionWgmmaArgs, q), 0),
    map_arg(offsetof(AttentionWgmmaArgs, k), 1),
    map_arg(offsetof(AttentionWgmmaArgs, v), 2),
    pointer_arg(offsetof(AttentionWgmmaArgs, out), 4),
    axis_arg(offsetof(AttentionWgmmaArgs, out_batch_step), ArgSource::kStride, 4, 0),
    axis_arg(offsetof(AttentionWgmmaArgs, out_row_step), ArgSource::kStride, 4, 1),
    axis_arg(offsetof(AttentionWgmmaArgs, out_head_step), ArgSource::kStride, 4, 2),
    axis_arg(offsetof(AttentionWgmmaArgs, batches), ArgSource::kDim, 0, 0),
    axis_arg(offsetof(AttentionWgmmaArgs, heads), ArgSource::kDim, 0, 1),
    axis_arg(offsetof(AttentionWgmmaArgs, rows), ArgSource::kDim, 0, 2),
    axis_arg(offsetof(AttentionWgmmaArgs, key_heads), ArgSource::kDim, 1, 1),
    axis_arg(offsetof(AttentionWgmmaArgs, keys), ArgSource::kDim, 1, 2),
    axis_arg(offsetof(AttentionWgmmaArgs, width), ArgSource::kDim, 2, 3),
    float_arg(offsetof(AttentionWgmmaArgs, scale), "scale"),
    int_arg(offsetof(AttentionWgmmaArgs, causal), "causal"),
    int_arg(offsetof(AttentionWgmmaArgs, zero_empty), "zero_empty"),
};

// What bulk tensor copies and 16-byte stores take: a dense last axis, steps of 8 elements along the others.
Status check_steps(const TensorView& v, const char* name) {
  if (element_count(v) == 0) return {};
  if (v.strides[3] != 1) return refuse(std::string(name) + " is not dense along its last axis");
  for (int a = 0; a < 3; ++a)
    if (v.dims[a] > 1 && (v.strides[a] <= 0 || v.strides[a] % 8 != 0 || v.strides[a] >= int64_t{1} << 38))
      return refuse(std::string(name) + " has steps that are not of 8 elements");
  return {};
}

// The boxes must be those that the kernel makes room for.
Status check_boxes(const LaunchShape& shape) {
  for (const std::string i : {"0", "1", "2"}) {
    const auto side = [&](size_t axis) { return attr_int(shape.attrs, "box" + i, 0, axis); };
    if (side(0) != 1 || side(1) != 1 || side(2) != kAttentionBox || side(3) != kAttentionBox ||
        attr_int(shape.attrs, "swizzle" + i, 0) != 128)
      return refuse("its boxes or swizzles are not the kernel's");
  }
  return {};
}

// Heads in (least, most].
template <int64_t kLeast, int64_t kMost>
Status check_heads(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  GE_TRY(check_attention(shape));
  const TensorView &q = shape.operands[0], &k = shape.operands[1], &v = shape.operands[2],
                   &out = shape.operands[4];
  if (!is_absent(shape.operands[3])) return refuse("has a mask");
  const int64_t size = std::max(q.dims[3], v.dims[3]);
  if (size > kMost || size <= kLeast) return refuse("heads of " + std::to_string(size));
  if (q.dims[3] == 0 || v.dims[3] == 0) return refuse("heads of 0");
  if (v.dims[3] % 8 != 0) return refuse("values of " + std::to_string(v.dims[3]));
  GE_TRY(check_steps(q, "q"));
  GE_TRY(check_steps(k, "k"));
  GE_TRY(check_steps(v, "v"));
  GE_TRY(check_steps(out, "out"));
  constexpr double kMostTiles = int64_t{1} << 30;  // rows, keys and tiles are counted in an int
  const auto rows =
      static_cast<double>(q.dims[0]) * static_cast<double>(q.dims[1]) * static_cast<double>(q.dims[2] + 128);
  if (rows > kMostTiles || static_cast<double>(k.dims[2]) > kMostTiles)
    return refuse(dims_text(q) + " queries and " + std::to_string(k.dims[2]) + " keys");
  return shape.block[0] == 1 ? Status() : check_boxes(shape);  // 1: a question about operands alone
}

template <int64_t kLeast, int64_t kMost>
constexpr KernelRow row_of(std::string_view name, std::span<const OperandRow> operands,
                           std::string_view symbol, std::string_view summary) {
  return {
      .name = name,
      .device = KernelDevice::kCuda,
      .operands = operands,
      .attrs = kAttrs,
      .args_size = sizeof(AttentionWgmmaArgs),
      .args = kArgs,
      .limits = {.min_arch = 90,
                 .max_threads = kAttentionThreads,
                 .dynamic_shared_memory = AttentionWgmmaShape{kMost}.shared_bytes()},
      .check = check_heads<kLeast, kMost>,
      .symbol = symbol,
      .image = "attention_wgmma",
      .waits_for_predecessor = true,
      .only_arch = 90,
      .grid = KernelGrid::kWarpgroupQueries,
      .efficiency = {.of_peak = 0.5, .of_bandwidth = 0.8, .matrix_units = true},
      .summary = summary,
  };
}

}  // namespace

extern constinit const KernelRow attention_wgmma64_f16_sm90_row =
    row_of<0, 64>("attention_wgmma64_f16_sm90", kHalf, "ge_attention_wgmma64_f16",
                  "float16 attention without a mask on sm_90a's warpgroup units, heads up to 64");
extern constinit const KernelRow attention_wgmma64_bf16_sm90_row =
    row_of<0, 64>("attention_wgmma64_bf16_sm90", kBHalf, "ge_attention_wgmma64_bf16",
                  "bfloat16 attention without a mask on sm_90a's warpgroup units, heads up to 64");
extern constinit const KernelRow attention_wgmma128_f16_sm90_row =
    row_of<64, 128>("attention_wgmma128_f16_sm90", kHalf, "ge_attention_wgmma128_f16",
                    "float16 attention without a mask on sm_90a's warpgroup units, heads of 65 to 128");
extern constinit const KernelRow attention_wgmma128_bf16_sm90_row =
    row_of<64, 128>("attention_wgmma128_bf16_sm90", kBHalf, "ge_attention_wgmma128_bf16",
                    "bfloat16 attention without a mask on sm_90a's warpgroup units, heads of 65 to 128");

}  // namespace ge::kernels
