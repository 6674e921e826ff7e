// IEEE half precision as uint16_t bits. Entry: float16_to_float, float16_from_float, float16_from_double.
#pragma once
#include <cstdint>

#include "numeric/small_float.h"

namespace ge {

using Float16Format = SmallFloat<5, 10, SmallFloatKind::kIeee>;

constexpr float float16_to_float(uint16_t bits) {
  return Float16Format::decode(bits);
}
// Nearest even, rounded once; past 65504 (after rounding) infinity.
constexpr uint16_t float16_from_double(double value) {
  return static_cast<uint16_t>(Float16Format::encode(value, false));
}
constexpr uint16_t float16_from_float(float value) {
  return float16_from_double(value);
}

}  // namespace ge
