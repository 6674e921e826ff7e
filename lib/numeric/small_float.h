// The one conversion behind float16, bfloat16 and float8: round to nearest even, once, from double (and so
// from float, which double holds exactly). Entry: SmallFloat<exponent bits, mantissa bits, kind>. Invariant:
// decode(encode(x)) is x where it fits.
#pragma once
#include <bit>
#include <cstdint>

namespace ge {

enum class SmallFloatKind : uint8_t {
  kIeee,      // the top exponent holds infinities and NaN
  kFiniteNan  // "fn": no infinity, only mantissa all ones at the top exponent is NaN (float8e4m3fn)
};

template <int kExponentBits, int kMantissaBits, SmallFloatKind kKind>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kBits = 1 + kExponentBits + kMantissaBits;
  static constexpr uint32_t kSign = 1u << (kBits - 1);
  static constexpr uint32_t kTop = kSign - 1;  // all exponent and mantissa bits
  static constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;
  static constexpr uint32_t kInfinity = kTop & ~kMantissaMask;  // kIeee only
  static constexpr uint32_t kNan =
      kKind == SmallFloatKind::kIeee ? kInfinity | (1u << (kMantissaBits - 1)) : kTop;
  static constexpr uint32_t kMax =
      kKind == SmallFloatKind::kIeee ? kInfinity - 1 : kTop - 1;  // largest finite

  // Values past the largest finite one, and infinities, become the largest finite one where `saturate`, else
  // infinity (NaN where the type has none). NaN stays NaN (its sign is kept, its payload is not).
  static constexpr uint32_t encode(double value, bool saturate) {
    const uint64_t raw = std::bit_cast<uint64_t>(value);
    const uint32_t sign = (raw >> 63) ? kSign : 0;
    const uint64_t magnitude = raw & ~(uint64_t{1} << 63);
    constexpr uint64_t kDoubleInfinity = uint64_t{0x7ff} << 52;
    constexpr uint32_t kOverflow = kKind == SmallFloatKind::kIeee ? kInfinity : kNan;
    if (magnitude > kDoubleInfinity) return sign | kNan;
    if (magnitude == kDoubleInfinity) return sign | (saturate ? kMax : kOverflow);
    const int exponent = static_cast<int>(magnitude >> 52) - 1023 + kBias;  // biased as in the small type
    uint64_t mantissa = magnitude & ((uint64_t{1} << 52) - 1);
    int shift = 52 - kMantissaBits;
    uint64_t base = 0;
    if (exponent <= 0) {  // subnormal here: the hidden bit becomes part of the shifted mantissa
      if (exponent < -kMantissaBits) return sign;  // below half of the smallest subnormal
      mantissa |= uint64_t{1} << 52;
      shift += 1 - exponent;
    } else {
      base = static_cast<uint64_t>(exponent) << kMantissaBits;
    }
    const uint64_t kept = mantissa >> shift;
    const uint64_t dropped = mantissa & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    const uint64_t rounded = base + kept + ((dropped > half || (dropped == half && (kept & 1))) ? 1 : 0);
    if (rounded > kMax) return sign | (saturate ? kMax : kOverflow);
    return sign | static_cast<uint32_t>(rounded);
  }

  static constexpr float decode(uint32_t bits) {
    const uint32_t sign = (bits & kSign) ? 0x80000000u : 0;
    const uint32_t magnitude = bits & kTop;
    const uint32_t exponent = magnitude >> kMantissaBits;
    const uint32_t mantissa = magnitude & kMantissaMask;
    if (is_nan(bits)) return std::bit_cast<float>(sign | 0x7fc00000u | (mantissa << (23 - kMantissaBits)));
    if (kKind == SmallFloatKind::kIeee && magnitude == kInfinity)
      return std::bit_cast<float>(sign | 0x7f800000u);
    if (exponent == 0 &&
        kBias < 127) {  // subnormal here, normal in float: mantissa * 2^(1 - bias - mantissa bits)
      const float scale = std::bit_cast<float>(static_cast<uint32_t>(127 + 1 - kBias - kMantissaBits) << 23);
      const float value = static_cast<float>(mantissa) * scale;
      return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
    }
    return std::bit_cast<float>(sign | ((exponent + 127 - kBias) << 23) | (mantissa << (23 - kMantissaBits)));
  }

  static constexpr bool is_nan(uint32_t bits) {
    return kKind == SmallFloatKind::kIeee ? (bits & kTop) > kInfinity : (bits & kTop) == kNan;
  }
};

}  // namespace ge
