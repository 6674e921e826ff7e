// Rows of conv_nhwc.cu.
#include "kernels/conv/conv_cuda_row.h"

namespace ge::kernels {
namespace {
constexpr int64_t kCluster = 4;  // blocks of a grid come in fours, kernels/device/cluster.cuh

constexpr std::array<OperandRow, 5> operands(DTypeSet types) {
  std::array<OperandRow, 5> rows = conv_operands(types, 4);
  rows[0].align_bytes = rows[1].align_bytes = 16;
  return rows;
}
constexpr auto kHalf = operands({DType::float16});
constexpr auto kBHalf = operands({DType::bfloat16});
constexpr auto kFloat = operands({DType::float32});
constexpr KernelEfficiency kEfficiency{.of_peak = 0.50, .of_bandwidth = 0.5, .matrix_units = true};

// Every chunk of 8 (float32: 4) channels is 16 bytes at an aligned address, in x and in w.
Status check_chunks(const TensorView& x, const TensorView& w) {
  const int64_t vector = x.dtype == DType::float32 ? 4 : 8;
  const std::string multiple = ", no multiple of " + std::to_string(vector);
  const int64_t channels = w.dims[1];
  if (channels % vector != 0) return refuse("groups of " + std::to_string(channels) + " channels" + multiple);
  if (channels == 0) return {};  // nothing is read
  if (x.strides[1] != 1 || w.strides[1] != 1) return refuse("channels do not stand side by side");
  for (int i = 0; i < x.rank; ++i)
    if (i != 1 && x.dims[i] > 1 && x.strides[i] % vector != 0)
      return refuse("stride " + std::to_string(x.strides[i]) + " of x" + multiple);
  if (w.dims[0] > 1 && w.strides[0] % vector != 0)
    return refuse("stride " + std::to_string(w.strides[0]) + " of w" + multiple);
  int64_t expected = channels;  // window positions follow one another
  for (int i = w.rank - 1; i >= 2; --i) {
    if (w.dims[i] > 1 && w.strides[i] != expected)
      return refuse("a filter is not one dense run, channels last");
    expected *= w.dims[i];
  }
  return expected <= int64_t{1} << 28 ? Status() : refuse("filters of over 2^28 elements");
}

Status check_conv_nhwc(const LaunchShape& shape) {
  GE_TRY(check_conv_mma(shape));
  if (shape.block[0] == kCudaBlock && shape.grid[0] % kCluster != 0)
    return refuse("a grid of " + std::to_string(shape.grid[0]) + " blocks, no multiple of 4");
  return check_chunks(shape.operands[0], shape.operands[1]);
}
}  // namespace

extern constinit const KernelRow conv_nhwc_f16_sm80_row = conv_cuda_row(
    "conv_nhwc_f16_sm80", kHalf, check_conv_nhwc, "ge_conv_nhwc_f16", "conv_nhwc", KernelGrid::kConvClusters,
    kEfficiency, "float16 convolution on tensor cores, channels last, one or two spatial axes");
extern constinit const KernelRow conv_nhwc_bf16_sm80_row =
    conv_cuda_row("conv_nhwc_bf16_sm80", kBHalf, check_conv_nhwc, "ge_conv_nhwc_bf16", "conv_nhwc",
                  KernelGrid::kConvClusters, kEfficiency,
                  "bfloat16 convolution on tensor cores, channels last, one or two spatial axes");
extern constinit const KernelRow conv_nhwc_f32_sm80_row = conv_cuda_row(
    "conv_nhwc_f32_sm80", kFloat, check_conv_nhwc, "ge_conv_nhwc_f32", "conv_nhwc", KernelGrid::kConvClusters,
    {0.35, 0.5}, "float32 convolution, channels last, one or two spatial axes");

}  // namespace ge::kernels
