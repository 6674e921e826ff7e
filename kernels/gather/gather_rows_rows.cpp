// Row of gather_rows.cu.
#include <array>

#include "kernels/common/arg_rows.h"
#include "kernels/common/cuda_rows.h"
#include "kernels/gather/gather_row.h"
#include "kernels/gather/gather_rows.h"

namespace ge::kernels {
namespace {

constexpr std::array<OperandRow, 3> aligned() {
  std::array<OperandRow, 3> operands{kGatherOperands[0], kGatherOperands[1], kGatherOperands[2]};
  operands[0].align_bytes = operands[2].align_bytes = 16;
  return operands;
}
constexpr auto kOperands = aligned();

Status check_gather_rows(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  GE_TRY(check_gather(shape));
  const TensorView &data = shape.operands[0], &indices = shape.operands[1], &out = shape.operands[2];
  if (attr_int(shape.attrs, "elements", 0) != 0) return refuse("each element has an index of its own");
  if (attr_int(shape.attrs, "axis", 0) != 0) return refuse("its axis is not data's first");
  const auto dense = [](const TensorView& v) { return element_count(v) == 0 || is_contiguous(v); };
  if (!dense(data)) return refuse("data is not dense");
  if (!dense(indices)) return refuse("indices are not dense");
  if (!dense(out)) return refuse("out is not dense");
  int64_t bytes = bits_of(data.dtype) / 8;
  for (int a = 1; a < data.rank; ++a) bytes *= data.dims[a];
  if (bytes % 16 != 0) return refuse("rows of " + std::to_string(bytes) + " bytes");
  constexpr int64_t kMost = int64_t{1} << 31;  // vectors are counted in 32 bits
  const int64_t rows = element_count(indices);
  if (bytes / 16 >= kMost || rows >= kMost || rows * (bytes / 16) >= kMost)
    return refuse("over 2^31 times 16 bytes");
  return {};
}

constexpr ArgRow count_arg(size_t offset, int operand, int from) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kI64,
          .source = ArgSource::kCount,
          .operand = static_cast<int8_t>(operand),
          .a = static_cast<int8_t>(from),
          .b = -1};
}
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(GatherRowsArgs, data), 0),
    view_arg(offsetof(GatherRowsArgs, indices), 1),
    pointer_arg(offsetof(GatherRowsArgs, out), 2),
    count_arg(offsetof(GatherRowsArgs, rows), 1, 0),
    count_arg(offsetof(GatherRowsArgs, length), 0, 1),
    {.offset = offsetof(GatherRowsArgs, launch), .type = ArgType::kI64, .source = ArgSource::kLaunch},
    {.offset = offsetof(GatherRowsArgs, device_block),
     .type = ArgType::kPointer,
     .source = ArgSource::kDeviceBlock},
};

}  // namespace

extern constinit const KernelRow gather_rows_sm80_row = {
    .name = "gather_rows_sm80",
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .attrs = kGatherAttrs,
    .args_size = sizeof(GatherRowsArgs),
    .args = kArgs,
    .limits = kSm80,
    .check = check_gather_rows,
    .symbol = "ge_gather_rows",
    .image = "gather_rows",
    .waits_for_predecessor = true,
    .grid = KernelGrid::kVectors,
    .preferred_over = "gather_elements_sm80",
    .summary = "dense rows of 16-byte multiples picked along the first axis",
};

}  // namespace ge::kernels
