// Row of scatter_owned.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/scatter/scatter_row.h"

namespace ge::kernels {
namespace {

Status check_scatter_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  if (attr_int(shape.attrs, "kind", 0) != 0 && !kCudaTypes.contains(shape.operands[0].dtype))
    return refuse("no reductions of " + std::string(name_of(shape.operands[0].dtype)));
  return check_scatter(shape);
}
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(ScatterArgs, data), 0),
    view_arg(offsetof(ScatterArgs, indices), 1),
    view_arg(offsetof(ScatterArgs, updates), 2),
    view_arg(offsetof(ScatterArgs, out), 3),
    int_arg(offsetof(ScatterArgs, axis), "axis"),
    int_arg(offsetof(ScatterArgs, elements), "elements"),
    int_arg(offsetof(ScatterArgs, kind), "kind"),
    {.offset = offsetof(ScatterArgs, launch), .type = ArgType::kI64, .source = ArgSource::kLaunch},
    {.offset = offsetof(ScatterArgs, device_block),
     .type = ArgType::kPointer,
     .source = ArgSource::kDeviceBlock},
};

}  // namespace

extern constinit const KernelRow scatter_owned_sm80_row = {
    .name = "scatter_owned_sm80",
    .device = KernelDevice::kCuda,
    .operands = kScatterOperands,
    .attrs = kScatterAttrs,
    .args_size = sizeof(ScatterArgs),
    .args = kArgs,
    .limits = kSm80,
    .check = check_scatter_cuda,
    .symbol = "ge_scatter_owned",
    .image = "scatter_owned",
    .summary = "updates put in by index, each thread those of the elements it owns, in row-major order",
};

}  // namespace ge::kernels
