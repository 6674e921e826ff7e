// Rows of dot_wgmma.cu: one a tile and element type. Which fits a product best is select/wgmma_plan's matter.
#include "kernels/common/arg_rows.h"
#include "kernels/common/cuda_rows.h"
#include "kernels/dot/dot_row.h"
#include "kernels/dot/dot_wgmma.h"

namespace ge::kernels {
namespace {

constexpr std::array<OperandRow, 5> operands_of(DType dtype) {
  const DTypeSet types{dtype};
  return {{
      {.name = "lhs", .dtypes = types, .min_rank = 2, .max_rank = 2, .align_bytes = 16},
      {.name = "rhs", .dtypes = types, .min_rank = 2, .max_rank = 2, .align_bytes = 16},
      {.name = "bias", .dtypes = types, .min_rank = 2, .max_rank = 2, .align_bytes = 16, .optional = true},
      {.name = "out",
       .role = OperandRole::kOut,
       .dtypes = types,
       .min_rank = 2,
       .max_rank = 2,
       .align_bytes = 16},
      {.name = "residual",
       .dtypes = types,
       .min_rank = 2,
       .max_rank = 2,
       .align_bytes = 16,
       .optional = true},
  }};
}
constexpr auto kHalf = operands_of(DType::float16), kBHalf = operands_of(DType::bfloat16);

constexpr AttrRow kAttrs[] = {
    kActivationAttr,
    kActivationAlphaAttr,
    kActivationBetaAttr,
    {.name = "box0", .type = AttrType::kInts, .min = 1, .max = 256, .required = false},
    {.name = "box1", .type = AttrType::kInts, .min = 1, .max = 256, .required = false},
    {.name = "swizzle0", .min = 0, .max = 128, .required = false},
    {.name = "swizzle1", .min = 0, .max = 128, .required = false},
    {.name = "early", .min = 0, .max = 2, .required = false},
    {.name = "narrow", .min = 0, .max = 1, .required = false},
};

constexpr ArgRow kArgs[] = {
    map_arg(offsetof(DotWgmmaArgs, lhs), 0),
    map_arg(offsetof(DotWgmmaArgs, rhs), 1),
    pointer_arg(offsetof(DotWgmmaArgs, bias), 2),
    pointer_arg(offsetof(DotWgmmaArgs, residual), 4),
    pointer_arg(offsetof(DotWgmmaArgs, out), 3),
    axis_arg(offsetof(DotWgmmaArgs, residual_step), ArgSource::kStride, 4, 0),
    axis_arg(offsetof(DotWgmmaArgs, out_step), ArgSource::kStride, 3, 0),
    axis_arg(offsetof(DotWgmmaArgs, rhs_step), ArgSource::kStride, 1, 1),
    axis_arg(offsetof(DotWgmmaArgs, rows), ArgSource::kDim, 3, 0),
    axis_arg(offsetof(DotWgmmaArgs, columns), ArgSource::kDim, 3, 1),
    axis_arg(offsetof(DotWgmmaArgs, depth), ArgSource::kDim, 0, 1),
    int_arg(offsetof(DotWgmmaArgs, early), "early"),
    int_arg(offsetof(DotWgmmaArgs, narrow), "narrow"),
    int_arg(offsetof(DotWgmmaArgs, activation) + 0, "activation"),
    float_arg(offsetof(DotWgmmaArgs, activation) + 8, "activation_alpha"),
    float_arg(offsetof(DotWgmmaArgs, activation) + 16, "activation_beta"),
};

// Rows of 16-byte steps along a dense axis.
bool has_rows(const TensorView& v, int dense, int other) {
  return v.strides[dense] == 1 && v.strides[other] > 0 && v.strides[other] % 8 == 0 &&
         v.strides[other] < int64_t{1} << 38;
}

Status check_views(const LaunchShape& shape) {
  const TensorView &lhs = shape.operands[0], &rhs = shape.operands[1], &bias = shape.operands[2],
                   &out = shape.operands[3], &residual = shape.operands[4];
  if (!has_rows(lhs, 1, 0)) return refuse("lhs is not dense along k in steps of 8");
  if (!has_rows(rhs, 1, 0) && !has_rows(rhs, 0, 1)) return refuse("rhs has no dense axis and steps of 8");
  if (!has_rows(out, 1, 0)) return refuse("out is not dense along n in steps of 8");
  if (!is_absent(residual) && !has_rows(residual, 1, 0))
    return refuse("residual is not dense along n in steps of 8");
  if (!is_absent(bias) && (bias.strides[1] != 1 || (bias.dims[0] > 1 && bias.strides[0] != 0)))
    return refuse("bias is not one dense row");
  if (out.dims[1] % 8 != 0) return refuse("n is no multiple of 8");
  constexpr int64_t kMost = int64_t{1} << 30;
  if (lhs.dims[1] < 1) return refuse("k is 0");
  if (out.dims[0] > kMost || out.dims[1] > kMost || lhs.dims[1] > kMost) return refuse("an extent over 2^30");
  const int64_t tiles = (out.dims[0] / 64 + 1) * (out.dims[1] / 32 + 1);
  return tiles < kMost ? Status() : Status(refuse("over 2^30 tiles"));
}

// The boxes must be those that the kernel makes room for.
Status check_boxes(const LaunchShape& shape, const WgmmaTileShape& tile) {
  const bool by_columns = shape.operands[1].strides[1] == 1;
  const auto is = [&](const char* name, int64_t first, int64_t second) {
    return attr_int(shape.attrs, name, 0, 0) == first && attr_int(shape.attrs, name, 0, 1) == second;
  };
  const bool fits = is("box0", tile.rows, 64) && is("box1", 64, by_columns ? tile.width() : tile.columns) &&
                    attr_int(shape.attrs, "swizzle0", 0) == 128 &&
                    attr_int(shape.attrs, "swizzle1", 0) == (by_columns ? tile.width() * 2 : 128);
  return fits ? Status() : Status(refuse("its boxes or swizzles are not the tile's"));
}

template <int kRows, int kColumns, int kAcross>
Status check_dot_wgmma(const LaunchShape& shape) {
  constexpr WgmmaTileShape kTile{kRows, kColumns, kAcross};
  GE_TRY(check_epilogue(shape.attrs, shape.operands[3].dtype));
  GE_TRY(check_dot(shape));
  GE_TRY(check_views(shape));
  const auto& b = shape.block;
  if (b[0] == 1 && b[1] == 1 && b[2] == 1) return {};  // a question about operands alone
  if (b[0] != kTile.block_threads() || b[1] != 1 || b[2] != 1)
    return refuse("blocks of " + std::to_string(b[0] * b[1] * b[2]) + " threads, the kernel takes " +
                  std::to_string(kTile.block_threads()) + " along x");
  return check_boxes(shape, kTile);
}

template <int kRows, int kColumns, int kAcross>
constexpr KernelRow row_of(std::string_view name, std::span<const OperandRow> operands,
                           std::string_view symbol) {
  return {
      .name = name,
      .revision = 3,
      .device = KernelDevice::kCuda,
      .operands = operands,
      .attrs = kAttrs,
      .args_size = sizeof(DotWgmmaArgs),
      .args = kArgs,
      .limits = {.min_arch = 90,
                 .max_threads = WgmmaTileShape{kRows, kColumns, kAcross}.block_threads(),
                 .dynamic_shared_memory = kWgmmaSharedBytes},
      .check = check_dot_wgmma<kRows, kColumns, kAcross>,
      .symbol = symbol,
      .image = "dot_wgmma",
      .waits_for_predecessor = true,
      .only_arch = 90,
      .grid = KernelGrid::kWarpgroupTiles,
      .efficiency = {.of_peak = 0.9, .of_bandwidth = 0.9, .matrix_units = true},
      .summary = "16-bit matrix product on sm_90a's warpgroup units, depth split over a cluster",
  };
}

}  // namespace

#define GE_WGMMA_TILE(rows, columns, across)                                              \
  extern constinit const KernelRow dot_wgmma_##rows##x##columns##_f16_sm90_row =          \
      row_of<rows, columns, across>("dot_wgmma_" #rows "x" #columns "_f16_sm90", kHalf,   \
                                    "ge_dot_wgmma_" #rows "x" #columns "_f16");           \
  extern constinit const KernelRow dot_wgmma_##rows##x##columns##_bf16_sm90_row =         \
      row_of<rows, columns, across>("dot_wgmma_" #rows "x" #columns "_bf16_sm90", kBHalf, \
                                    "ge_dot_wgmma_" #rows "x" #columns "_bf16");
#include "kernels/dot/wgmma_tiles.def"
#undef GE_WGMMA_TILE

}  // namespace ge::kernels
