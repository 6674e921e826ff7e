// Small constexpr helpers to write a family's KernelRow tables. Entry: view_arg, int_arg, float_arg and the
// dtype sets. Invariant: offsets come from offsetof on the family's args struct, so a table cannot disagree
// with its struct.
#pragma once
#include <cstddef>

#include "contract/kernel_desc.h"

namespace ge::kernels {

constexpr ArgRow view_arg(size_t offset, int operand) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kView,
          .source = ArgSource::kView,
          .operand = static_cast<int8_t>(operand)};
}
// An int64 attribute; `element` indexes a list.
constexpr ArgRow int_arg(size_t offset, std::string_view attr, int element = 0) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kI64,
          .source = ArgSource::kAttr,
          .a = static_cast<int8_t>(element),
          .attr = attr};
}
constexpr ArgRow float_arg(size_t offset, std::string_view attr) {
  return {.offset = static_cast<uint32_t>(offset),
          .type = ArgType::kF64,
          .source = ArgSource::kAttr,
          .attr = attr};
}

inline constexpr DTypeSet kRealTypes{DType::float64,  DType::float32,      DType::float16,
                                     DType::bfloat16, DType::float8e4m3fn, DType::float8e5m2};
inline constexpr DTypeSet kIntegerTypes{DType::int64,  DType::int32,  DType::int16,  DType::int8,
                                        DType::uint64, DType::uint32, DType::uint16, DType::uint8};
inline constexpr DTypeSet kIndexTypes{DType::int64, DType::int32};
inline constexpr DTypeSet kNumberTypes = kRealTypes | kIntegerTypes;
// Every type whose elements are whole bytes; 4-bit types are unpacked by cast before anything else sees them.
inline constexpr DTypeSet kAllTypes = kNumberTypes | DTypeSet{DType::boolean};

}  // namespace ge::kernels
