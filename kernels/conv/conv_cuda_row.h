// What the CUDA conv rows share. Entry: conv_cuda_row, check_conv_cuda.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "kernels/common/cuda_rows.h"
#include "kernels/conv/conv_row.h"

namespace ge::kernels {

constexpr KernelRow conv_cuda_row(std::string_view name, std::span<const OperandRow> operands,
                                  LaunchCheck check, std::string_view symbol, std::string_view image,
                                  KernelGrid grid, KernelEfficiency efficiency, std::string_view summary,
                                  uint32_t revision = 1) {
  return {.name = name,
          .revision = revision,
          .device = KernelDevice::kCuda,
          .operands = operands,
          .attrs = kConvAttrs,
          .args_size = sizeof(ConvArgs),
          .args = kConvArgs,
          .limits = kSm80,
          .check = check,
          .symbol = symbol,
          .image = image,
          .grid = grid,
          .efficiency = efficiency,
          .summary = summary};
}

inline Status check_conv_cuda(const LaunchShape& shape) {
  GE_TRY(check_block(shape));
  GE_TRY(check_epilogue(shape.attrs, shape.operands[3].dtype));
  return check_conv(shape);
}

// The kernels that hold window positions in 32 bits.
inline Status check_conv_plane(const LaunchShape& shape) {
  GE_TRY(check_conv_cuda(shape));
  const int64_t limit = int64_t{1} << 28;
  const auto* dilations = std::get_if<std::vector<int64_t>>(find_attr(shape.attrs, "dilations"));
  for (int i = 2; i < shape.operands[0].rank; ++i) {
    const int64_t reach = (*dilations)[static_cast<size_t>(i - 2)];
    if (shape.operands[0].dims[i] > limit || shape.operands[3].dims[i] > limit ||
        shape.operands[1].dims[i] > limit / reach ||
        shape.operands[3].dims[i] > limit / attr_int(shape.attrs, "strides", 1, static_cast<size_t>(i - 2))) {
      return refuse("axis " + std::to_string(i) + " is over 2^28 positions");
    }
  }
  return {};
}

// Tiles of 64 channels: narrower groups would leave most of one empty.
inline constexpr int64_t kNarrowGroup = 8;
// What element offsets in x reach, from the first element and past it on both sides.
inline bool fits_32_bits(const TensorView& x) {
  int64_t reach = 0;
  for (int i = 0; i < x.rank; ++i) {
    if (x.dims[i] > 1 && std::abs(x.strides[i]) > (int64_t{1} << 30) / x.dims[i]) return false;
    reach += std::abs(x.strides[i]) * x.dims[i];
  }
  return reach < (int64_t{1} << 30);
}
inline Status check_conv_tiles(const LaunchShape& shape) {
  GE_TRY(check_conv_plane(shape));
  const int64_t groups = attr_int(shape.attrs, "groups", 1),
                rows = shape.operands[3].dims[1] / std::max<int64_t>(1, groups);
  if (groups > 1 && rows < kNarrowGroup)
    return refuse("groups of " + std::to_string(rows) + " channels, tiles need 8");
  return {};
}

inline Status check_conv_mma(const LaunchShape& shape) {
  GE_TRY(check_conv_tiles(shape));
  const TensorView &x = shape.operands[0], &w = shape.operands[1];
  for (int i = 2; i < w.rank; ++i) {
    if (w.dims[i] > 16)
      return refuse("a window of " + std::to_string(w.dims[i]) + " positions, up to 16 are taken");
    // Windows may start before x and end after it; their offsets must stay in range too.
    const int64_t reach = attr_int(shape.attrs, "dilations", 1, static_cast<size_t>(i - 2)) * w.dims[i];
    const int64_t pad = std::abs(attr_int(shape.attrs, "pads_begin", 0, static_cast<size_t>(i - 2)));
    if (reach > 4096 || pad > 4096 || std::abs(x.strides[i]) > (int64_t{1} << 17))
      return refuse("windows reach too far for 32-bit offsets");
  }
  if (!fits_32_bits(x)) return refuse("x is over 2^30 elements");
  return {};
}

}  // namespace ge::kernels
