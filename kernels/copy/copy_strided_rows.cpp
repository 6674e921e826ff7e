// Row of copy_strided.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/copy/copy_row.h"

namespace ge::kernels {
namespace {
Status check_copy_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_copy(shape);
}
}  // namespace

extern constinit const KernelRow copy_strided_sm80_row = {
    .name = "copy_strided_sm80",
    .device = KernelDevice::kCuda,
    .operands = kCopyOperands,
    .args_size = sizeof(CopyArgs),
    .args = kCopyArgs,
    .limits = kSm80,
    .check = check_copy_cuda,
    .symbol = "ge_copy_strided",
    .image = "copy_strided",
    .summary = "any strides to any strides",
};

}  // namespace ge::kernels
