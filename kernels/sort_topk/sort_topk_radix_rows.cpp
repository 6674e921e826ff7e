// Row of sort_topk_radix.cu.
#include "kernels/common/cuda_rows.h"
#include "kernels/sort_topk/sort_topk_row.h"

namespace ge::kernels {
namespace {

Status check_sort_topk_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  return check_sort_topk(shape);
}
constexpr OperandRow kOperands[] = {
    {.name = "in", .dtypes = kAllTypes, .min_rank = 1},
    {.name = "out", .role = OperandRole::kOut, .dtypes = {DType::int64}, .min_rank = 1},
};

}  // namespace

extern constinit const KernelRow sort_topk_radix_sm80_row = {
    .name = "sort_topk_radix_sm80",
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .attrs = kSortTopkAttrs,
    .args_size = sizeof(SortTopkArgs),
    .args = kSortTopkArgs,
    .limits = kSm80,
    .check = check_sort_topk_cuda,
    .symbol = "ge_sort_topk_radix",
    .image = "sort_topk_radix",
    .grid = KernelGrid::kColumns,
    .summary = "positions of the k best along an axis, one block a column",
};

}  // namespace ge::kernels
