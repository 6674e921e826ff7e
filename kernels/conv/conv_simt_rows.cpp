// Rows of conv_simt.cu.
#include "kernels/conv/conv_cuda_row.h"

namespace ge::kernels {
namespace {
constexpr auto kFloat = conv_operands({DType::float32}, 4);
constexpr auto kFloats = conv_operands({DType::float32, DType::float16, DType::bfloat16}, 4);
constexpr auto kAny = conv_operands(kCudaRealTypes | kIntegerTypes);
}  // namespace

extern constinit const KernelRow conv_direct_f32_sm80_row =
    conv_cuda_row("conv_direct_f32_sm80", kFloat, check_conv_tiles, "ge_conv_direct_f32", "conv_simt",
                  KernelGrid::kConvThinTiles, {0.15, 0.5},
                  "float32 convolution by 32 x 32 tiles, one or two spatial axes", 2);
extern constinit const KernelRow conv_windows_sm80_row = conv_cuda_row(
    "conv_windows_sm80", kFloats, check_conv_plane, "ge_conv_windows", "conv_simt", KernelGrid::kElements,
    {0.10, 0.5}, "float convolution, one thread a result: depthwise and narrow groups");
extern constinit const KernelRow conv_generic_sm80_row = conv_cuda_row(
    "conv_generic_sm80", kAny, check_conv_cuda, "ge_conv_generic", "conv_simt", KernelGrid::kElements,
    {0.01, 0.2}, "convolution of any type and up to three spatial axes, one thread a result");

}  // namespace ge::kernels
