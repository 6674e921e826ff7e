// Rows of dot_stream.cu: one for each number of rows, element type and dense axis of the right side. Which
// split fits a product best is select/stream_plan's matter.
#include "kernels/common/arg_rows.h"
#include "kernels/common/cuda_rows.h"
#include "kernels/dot/dot_row.h"
#include "kernels/dot/dot_stream.h"

namespace ge::kernels {
namespace {

constexpr std::array<OperandRow, 5> operands_of(DType dtype) {
  const DTypeSet types{dtype};
  return {{
      {.name = "lhs", .dtypes = types, .min_rank = 2, .max_rank = 2, .align_bytes = 16},
      {.name = "rhs", .dtypes = types, .min_rank = 2, .max_rank = 2, .align_bytes = 16},
      {.name = "bias", .dtypes = types, .min_rank = 2, .max_rank = 2, .optional = true},
      {.name = "out", .role = OperandRole::kOut, .dtypes = types, .min_rank = 2, .max_rank = 2},
      {.name = "residual", .dtypes = types, .min_rank = 2, .max_rank = 2, .optional = true},
  }};
}
constexpr auto kHalf = operands_of(DType::float16), kBHalf = operands_of(DType::bfloat16),
               kFloat = operands_of(DType::float32);

constexpr AttrRow kAttrs[] = {
    kActivationAttr,
    kActivationAlphaAttr,
    kActivationBetaAttr,
    {.name = "early", .min = 0, .max = 2, .required = false},
};

// `step`: the axis along which rhs is not dense.
constexpr std::array<ArgRow, 16> args_of(int step) {
  return {{
      pointer_arg(offsetof(DotStreamArgs, lhs), 0),
      pointer_arg(offsetof(DotStreamArgs, rhs), 1),
      pointer_arg(offsetof(DotStreamArgs, bias), 2),
      pointer_arg(offsetof(DotStreamArgs, residual), 4),
      pointer_arg(offsetof(DotStreamArgs, out), 3),
      axis_arg(offsetof(DotStreamArgs, lhs_step), ArgSource::kStride, 0, 0),
      axis_arg(offsetof(DotStreamArgs, rhs_step), ArgSource::kStride, 1, step),
      axis_arg(offsetof(DotStreamArgs, residual_step), ArgSource::kStride, 4, 0),
      axis_arg(offsetof(DotStreamArgs, out_step), ArgSource::kStride, 3, 0),
      axis_arg(offsetof(DotStreamArgs, rows), ArgSource::kDim, 3, 0),
      axis_arg(offsetof(DotStreamArgs, columns), ArgSource::kDim, 3, 1),
      axis_arg(offsetof(DotStreamArgs, depth), ArgSource::kDim, 0, 1),
      int_arg(offsetof(DotStreamArgs, early), "early"),
      int_arg(offsetof(DotStreamArgs, activation) + 0, "activation"),
      float_arg(offsetof(DotStreamArgs, activation) + 8, "activation_alpha"),
      float_arg(offsetof(DotStreamArgs, activation) + 16, "activation_beta"),
  }};
}
constexpr auto kArgsByColumns = args_of(0), kArgsByDepth = args_of(1);

bool is_dense(const TensorView& v, int axis) {
  return v.dims[axis] <= 1 || v.strides[axis] == 1;
}

template <bool kByDepth>
Status check_dot_stream(const LaunchShape& shape) {
  const auto& b = shape.block;
  const int64_t threads = StreamShape{1, kByDepth}.threads();
  if (b[0] * b[1] * b[2] != 1 && (b[0] != threads || b[1] != 1 || b[2] != 1))
    return refuse("blocks of " + std::to_string(b[0] * b[1] * b[2]) + " threads, the kernel takes " +
                  std::to_string(threads) + " along x");
  GE_TRY(check_epilogue(shape.attrs, shape.operands[3].dtype));
  GE_TRY(check_dot(shape));
  const TensorView &lhs = shape.operands[0], &rhs = shape.operands[1], &bias = shape.operands[2],
                   &out = shape.operands[3], &residual = shape.operands[4];
  const int64_t vector = 16 / bytes_of(out.dtype, 1);
  const auto in_vectors = [&](const TensorView& v, int axis) {
    return v.dims[axis] <= 1 || (v.strides[axis] > 0 && v.strides[axis] % vector == 0);
  };
  constexpr int kDense = kByDepth ? 0 : 1;
  if (!is_dense(lhs, 1) || !in_vectors(lhs, 0))
    return refuse("lhs is not dense along k in steps of 16 bytes");
  if (!is_dense(rhs, kDense) || !in_vectors(rhs, 1 - kDense))
    return refuse(std::string("rhs is not dense along ") + (kByDepth ? "k" : "n") + " in steps of 16 bytes");
  if (rhs.dims[kDense] % vector != 0)
    return refuse(std::string(kByDepth ? "k" : "n") + " is no multiple of " + std::to_string(vector));
  if (!is_dense(out, 1)) return refuse("out is not dense along n");
  if (!is_absent(residual) && !is_dense(residual, 1)) return refuse("residual is not dense along n");
  if (!is_absent(bias) && (!is_dense(bias, 1) || (bias.dims[0] > 1 && bias.strides[0] != 0)))
    return refuse("bias is not one dense row");
  constexpr int64_t kMost = int64_t{1} << 30;
  if (out.dims[0] > kMost || out.dims[1] > kMost || lhs.dims[1] > kMost) return refuse("an extent over 2^30");
  return (out.dims[0] + 1) * (out.dims[1] / 8 + 1) < kMost ? Status() : Status(refuse("over 2^30 strips"));
}

constexpr KernelRow row_of(std::string_view name, std::span<const OperandRow> operands,
                           std::string_view symbol, bool by_depth) {
  return {
      .name = name,
      .device = KernelDevice::kCuda,
      .operands = operands,
      .attrs = kAttrs,
      .args_size = sizeof(DotStreamArgs),
      .args = by_depth ? std::span<const ArgRow>(kArgsByDepth) : std::span<const ArgRow>(kArgsByColumns),
      .limits = {.min_arch = 80, .max_threads = StreamShape{1, by_depth}.threads()},
      .check = by_depth ? check_dot_stream<true> : check_dot_stream<false>,
      .symbol = symbol,
      .image = "dot_stream",
      .waits_for_predecessor = true,
      .grid = KernelGrid::kStreamedStrips,
      .efficiency = {.of_peak = 0.1, .of_bandwidth = 0.95},
      .summary = by_depth ? "product of few rows, the right side streamed along k"
                          : "product of few rows, the right side streamed along n",
  };
}

}  // namespace

#define GE_STREAM_ROW(rows, type, operands)                                                               \
  extern constinit const KernelRow dot_stream_n##rows##_##type##_sm80_row =                               \
      row_of("dot_stream_n" #rows "_" #type "_sm80", operands, "ge_dot_stream_n" #rows "_" #type, false); \
  extern constinit const KernelRow dot_stream_k##rows##_##type##_sm80_row =                               \
      row_of("dot_stream_k" #rows "_" #type "_sm80", operands, "ge_dot_stream_k" #rows "_" #type, true);
#define GE_STREAM_ROWS(rows, blocks, float_blocks) \
  GE_STREAM_ROW(rows, f16, kHalf)                  \
  GE_STREAM_ROW(rows, bf16, kBHalf)                \
  GE_STREAM_ROW(rows, f32, kFloat)
#include "kernels/dot/stream_rows.def"
#undef GE_STREAM_ROWS
#undef GE_STREAM_ROW

}  // namespace ge::kernels
