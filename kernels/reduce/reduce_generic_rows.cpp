// Row of reduce_generic.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/reduce/reduce_row.h"

namespace ge::kernels {
namespace {

Status check_reduce_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_reduce(shape);
}
constexpr OperandRow kOperands[] = {
    {.name = "in", .dtypes = kCudaTypes},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kCudaTypes},
};

}  // namespace

extern constinit const KernelRow reduce_generic_sm80_row = {
    .name = "reduce_generic_sm80",
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .attrs = kReduceAttrs,
    .args_size = sizeof(ReduceArgs),
    .args = kReduceArgs,
    .limits = kSm80,
    .check = check_reduce_cuda,
    .symbol = "ge_reduce_generic",
    .image = "reduce_generic",
    .summary = "every kind of reduction over any axes, one warp a result",
};

}  // namespace ge::kernels
