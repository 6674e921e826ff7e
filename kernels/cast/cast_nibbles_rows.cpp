// Row of cast_nibbles.cu.
#include "kernels/cast/cast_row.h"
#include "kernels/common/cuda_rows.h"

namespace ge::kernels {
namespace {

bool is_kind(DType dtype, DType nibbles, DType bytes) {
  return dtype == nibbles || dtype == bytes;
}

Status check_cast_nibbles(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  const DType in = shape.operands[0].dtype, out = shape.operands[1].dtype;
  const bool both_signed = is_kind(in, DType::int4, DType::int8) && is_kind(out, DType::int4, DType::int8);
  const bool both_unsigned =
      is_kind(in, DType::uint4, DType::uint8) && is_kind(out, DType::uint4, DType::uint8);
  if (!both_signed && !both_unsigned)
    return refuse(std::string(name_of(in)) + " to " + std::string(name_of(out)));
  return check_cast(shape);
}

constexpr DTypeSet kSmall = kNibbles | DTypeSet{DType::int8, DType::uint8};
constexpr OperandRow kOperands[] = {
    {.name = "in", .dtypes = kSmall},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kSmall},
};

}  // namespace

extern constinit const KernelRow cast_nibbles_sm80_row = {
    .name = "cast_nibbles_sm80",
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .args_size = sizeof(CastArgs),
    .args = kCastArgs,
    .limits = kSm80,
    .check = check_cast_nibbles,
    .symbol = "ge_cast_nibbles",
    .image = "cast_nibbles",
    .summary = "4-bit integers packed and unpacked",
};

}  // namespace ge::kernels
