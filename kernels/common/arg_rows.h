// Rows of argument structs that hold single fields of views. Entry: map_arg, pointer_arg, axis_arg.
#pragma once
#include "kernels/common/rows.h"

namespace ge::kernels {

// The tensor map that bind encodes for an operand.
constexpr ArgRow map_arg(size_t offset, int operand) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kTensorMap,
          .source = ArgSource::kTensorMap,
          .operand = static_cast<int8_t>(operand)};
}
constexpr ArgRow pointer_arg(size_t offset, int operand) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kPointer,
          .source = ArgSource::kPtr,
          .operand = static_cast<int8_t>(operand)};
}
// kDim or kStride of one axis.
constexpr ArgRow axis_arg(size_t offset, ArgSource source, int operand, int axis) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kI64,
          .source = source,
          .operand = static_cast<int8_t>(operand),
          .a = static_cast<int8_t>(axis)};
}

}  // namespace ge::kernels
