// Attributes and argument rows of sliding windows. Entry: GE_WINDOW_ARGS, check_list.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/common/window_args.h"

namespace ge::kernels {

inline constexpr int64_t kMaxWindow = int64_t{1} << 24;
inline constexpr AttrRow kStridesAttr{
    .name = "strides", .type = AttrType::kInts, .min = 1, .max = kMaxWindow};
inline constexpr AttrRow kDilationsAttr{
    .name = "dilations", .type = AttrType::kInts, .min = 1, .max = kMaxWindow};
inline constexpr AttrRow kPadsBeginAttr{
    .name = "pads_begin", .type = AttrType::kInts, .min = -kMaxWindow, .max = kMaxWindow};

// Nine rows: Window at `offset`.
#define GE_WINDOW_ARGS(offset)                                                          \
  int_arg((offset) + 0, "strides", 0), int_arg((offset) + 8, "strides", 1),             \
      int_arg((offset) + 16, "strides", 2), int_arg((offset) + 24, "dilations", 0),     \
      int_arg((offset) + 32, "dilations", 1), int_arg((offset) + 40, "dilations", 2),   \
      int_arg((offset) + 48, "pads_begin", 0), int_arg((offset) + 56, "pads_begin", 1), \
      int_arg((offset) + 64, "pads_begin", 2)

// The list attribute `name` has one entry for each of `count` spatial axes.
Status check_list(const Attrs& attrs, std::string_view name, int count);

}  // namespace ge::kernels
