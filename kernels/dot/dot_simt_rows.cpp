// Rows of dot_simt.cu.
#include "kernels/dot/dot_cuda_row.h"

namespace ge::kernels {
namespace {
constexpr auto kFloat = dot_operands({DType::float32});
constexpr auto kAny = dot_operands(kCudaRealTypes | kIntegerTypes);
}  // namespace

extern constinit const KernelRow dot_tiled_f32_sm80_row =
    dot_cuda_row("dot_tiled_f32_sm80", kFloat, "ge_dot_tiled_f32", "dot_simt", KernelGrid::kProductTiles,
                 {0.12, 0.4}, "float32 matrix product by 32 x 32 tiles, any sizes and strides", 2);
extern constinit const KernelRow dot_generic_sm80_row =
    dot_cuda_row("dot_generic_sm80", kAny, "ge_dot_generic", "dot_simt", KernelGrid::kElements, {0.02, 0.2},
                 "matrix product of any type, one thread a result");

}  // namespace ge::kernels
