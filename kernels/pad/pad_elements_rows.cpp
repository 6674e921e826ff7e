// Row of pad_elements.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/pad/pad_row.h"

namespace ge::kernels {
namespace {
Status check_pad_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_pad(shape);
}
}  // namespace

extern constinit const KernelRow pad_elements_sm80_row = {
    .name = "pad_elements_sm80",
    .device = KernelDevice::kCuda,
    .operands = kPadOperands,
    .attrs = kPadAttrs,
    .args_size = sizeof(PadArgs),
    .args = kPadArgs,
    .limits = kSm80,
    .check = check_pad_cuda,
    .symbol = "ge_pad_elements",
    .image = "pad_elements",
    .summary = "constant, reflect and edge padding, one thread an element",
};

}  // namespace ge::kernels
