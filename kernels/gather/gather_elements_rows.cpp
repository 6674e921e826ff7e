// Row of gather_elements.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/gather/gather_cuda.h"
#include "kernels/gather/gather_row.h"

namespace ge::kernels {
namespace {

Status check_gather_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_gather(shape);
}
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(GatherCudaArgs, data), 0),
    view_arg(offsetof(GatherCudaArgs, indices), 1),
    view_arg(offsetof(GatherCudaArgs, out), 2),
    int_arg(offsetof(GatherCudaArgs, axis), "axis"),
    int_arg(offsetof(GatherCudaArgs, elements), "elements"),
    {.offset = offsetof(GatherCudaArgs, launch), .type = ArgType::kI64, .source = ArgSource::kLaunch},
    {.offset = offsetof(GatherCudaArgs, device_block),
     .type = ArgType::kPointer,
     .source = ArgSource::kDeviceBlock},
};

}  // namespace

extern constinit const KernelRow gather_elements_sm80_row = {
    .name = "gather_elements_sm80",
    .revision = 3,
    .device = KernelDevice::kCuda,
    .operands = kGatherOperands,
    .attrs = kGatherAttrs,
    .args_size = sizeof(GatherCudaArgs),
    .args = kArgs,
    .limits = kSm80,
    .check = check_gather_cuda,
    .symbol = "ge_gather_elements",
    .image = "gather_elements",
    .grid = KernelGrid::kVectors,
    .summary = "elements picked along an axis, 16 bytes at once where rows are dense",
};

}  // namespace ge::kernels
