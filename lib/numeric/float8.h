// The two float8 types as uint8_t bits. Entry: float8e4m3fn_*, float8e5m2_*. By default values past the
// largest finite one (448, 57344) and infinities saturate, as ONNX's Cast does; saturate = false gives NaN
// (e4m3fn) or infinity (e5m2).
#pragma once
#include <cstdint>

#include "numeric/small_float.h"

namespace ge {

using Float8e4m3fnFormat = SmallFloat<4, 3, SmallFloatKind::kFiniteNan>;
using Float8e5m2Format = SmallFloat<5, 2, SmallFloatKind::kIeee>;

constexpr float float8e4m3fn_to_float(uint8_t bits) {
  return Float8e4m3fnFormat::decode(bits);
}
constexpr float float8e5m2_to_float(uint8_t bits) {
  return Float8e5m2Format::decode(bits);
}
constexpr uint8_t float8e4m3fn_from_double(double value, bool saturate = true) {
  return static_cast<uint8_t>(Float8e4m3fnFormat::encode(value, saturate));
}
constexpr uint8_t float8e5m2_from_double(double value, bool saturate = true) {
  return static_cast<uint8_t>(Float8e5m2Format::encode(value, saturate));
}
constexpr uint8_t float8e4m3fn_from_float(float value, bool saturate = true) {
  return float8e4m3fn_from_double(value, saturate);
}
constexpr uint8_t float8e5m2_from_float(float value, bool saturate = true) {
  return float8e5m2_from_double(value, saturate);
}

}  // namespace ge
