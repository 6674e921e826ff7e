// Row of pool_windows.cu. uint64 is left out: its order is not int64's.
#include "kernels/common/cuda_rows.h"
#include "kernels/pool/pool_row.h"

namespace ge::kernels {
namespace {

Status check_pool_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_pool(shape);
}
constexpr auto kOperands =
    pool_operands(kCudaRealTypes | DTypeSet{DType::int64, DType::int32, DType::int16, DType::int8,
                                            DType::uint32, DType::uint16, DType::uint8});

}  // namespace

extern constinit const KernelRow pool_windows_sm80_row = {
    .name = "pool_windows_sm80",
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .attrs = kPoolAttrs,
    .args_size = sizeof(PoolArgs),
    .args = kPoolArgs,
    .limits = kSm80,
    .check = check_pool_cuda,
    .symbol = "ge_pool_windows",
    .image = "pool_windows",
    .summary = "max and average pooling of one to three spatial axes, one thread a result",
};

}  // namespace ge::kernels
