// Row of scan_warp.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/scan/scan_row.h"

namespace ge::kernels {
namespace {

Status check_scan_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_scan(shape);
}
constexpr OperandRow kOperands[] = {
    {.name = "in", .dtypes = kCudaTypes, .min_rank = 1},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kCudaTypes, .min_rank = 1},
};

}  // namespace

extern constinit const KernelRow scan_warp_sm80_row = {
    .name = "scan_warp_sm80",
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .attrs = kScanAttrs,
    .args_size = sizeof(ScanArgs),
    .args = kScanArgs,
    .limits = kSm80,
    .check = check_scan_cuda,
    .symbol = "ge_scan_warp",
    .image = "scan_warp",
    .summary = "sums along an axis, a warp or a thread a column",
};

}  // namespace ge::kernels
