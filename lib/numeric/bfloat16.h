// bfloat16 as uint16_t bits: the upper half of a float. Entry: bfloat16_to_float, bfloat16_from_float,
// bfloat16_from_double.
#pragma once
#include <bit>
#include <cstdint>

#include "numeric/small_float.h"

namespace ge {

using Bfloat16Format = SmallFloat<8, 7, SmallFloatKind::kIeee>;

constexpr float bfloat16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
// Nearest even, rounded once; past the largest finite value infinity.
constexpr uint16_t bfloat16_from_double(double value) {
  return static_cast<uint16_t>(Bfloat16Format::encode(value, false));
}
constexpr uint16_t bfloat16_from_float(float value) {
  const uint32_t raw = std::bit_cast<uint32_t>(value);
  if ((raw & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(((raw >> 16) & 0x8000u) | 0x7fc0u);
  return static_cast<uint16_t>((raw + 0x7fffu + ((raw >> 16) & 1u)) >> 16);
}

}  // namespace ge
