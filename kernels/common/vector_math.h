// float functions without branches or calls, so that a loop over them becomes SIMD. Entry: ge::vm::exp
// and the rest; GE_VECTOR_FUNCTIONS lists them. Within 3 units in the last place of the true value over the
// whole range (vm::gelu: of its product form), infinities, NaN and subnormals included. Written without fused
// multiply-add: the same bits on every machine.
#pragma once
#include <cstdint>

#define GE_VM static inline __attribute__((always_inline))

namespace ge::vm {

GE_VM float from_bits(uint32_t bits) {
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}
GE_VM uint32_t to_bits(float f) {
  uint32_t bits;
  __builtin_memcpy(&bits, &f, sizeof bits);
  return bits;
}
GE_VM float abs(float x) {
  return from_bits(to_bits(x) & 0x7fffffffu);
}
GE_VM float with_sign_of(float magnitude, float sign) {
  return from_bits(to_bits(magnitude) | (to_bits(sign) & 0x80000000u));
}

inline constexpr float kLog2e = 1.44269504088896341f;
inline constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
inline constexpr float kRound =
    12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer that stands in the low bits
inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kNan = __builtin_nanf("");

// exp(r) - 1 for |r| <= ln2 / 2.
GE_VM float expm1_core(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * (r * r) + r;
}
// p * 2^n for n in [-252, 254], in two exact steps but the last: subnormals round once, overflow gives
// infinity.
GE_VM float scale(float p, uint32_t n) {
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(n) >> 1);
  return p * from_bits((half + 127u) << 23) * from_bits((n - half + 127u) << 23);
}
// exp(high + low), |low| < 0.1 where high matters.
GE_VM float exp_of_sum(float high, float low) {
  const float x = high < -106.0f ? -106.0f : high > 90.0f ? 90.0f : high;  // NaN fails both and stays
  const float rounded = x * kLog2e + kRound;
  const uint32_t n = to_bits(rounded) - to_bits(kRound);
  const float k = rounded - kRound;
  const float r = ((x - k * kLn2High) - k * kLn2Low) + low;
  return scale(expm1_core(r) + 1.0f, n);
}
GE_VM float exp(float x) {
  return exp_of_sum(x, 0.0f);
}

GE_VM float expm1(float a) {
  const float x = a < -20.0f ? -20.0f : a > 88.9f ? 88.9f : a;  // 2^n of the latter is still a float
  const float rounded = x * kLog2e + kRound;
  const uint32_t n = to_bits(rounded) - to_bits(kRound);
  const float k = rounded - kRound;
  const float p = expm1_core((x - k * kLn2High) - k * kLn2Low);
  // 2^n p + 2^n - 1, by halves so that n = 128 stays finite until the end; n = 0 keeps p's own precision.
  const float half = from_bits((n + 126u) << 23);
  const float scaled = (half * p + (half - 0.5f)) * 2.0f;
  return k == 0.0f ? p : scaled;
}

// log of a positive, finite, normal mantissa in [sqrt(1/2), sqrt(2)) given as 1 + f, times 2^e.
GE_VM float log_core(float f, float e) {
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  const float square = f * f;
  float y = p * f * square;
  y = y + e * kLn2Low;
  y = y - 0.5f * square;
  return f + y + e * kLn2High;
}
GE_VM float log(float a) {
  const bool subnormal = a < 1.17549435e-38f;
  const float x = subnormal ? a * 8388608.0f : a;
  // Exponent so that the mantissa falls into [sqrt(1/2), sqrt(2)).
  const uint32_t bits = to_bits(x);
  const uint32_t shifted = bits - 0x3f3504f3u;
  const int32_t exponent = static_cast<int32_t>(shifted) >> 23;
  const float f = from_bits((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float e = static_cast<float>(exponent) - (subnormal ? 23.0f : 0.0f);
  const float y = log_core(f, e);
  const float edge = a == 0.0f ? -kInfinity : a > 0.0f ? a : kNan;  // a > 0 here is +infinity
  return ((a > 0.0f) & (a < kInfinity)) ? y : edge;
}
GE_VM float log1p(float a) {
  const float u = 1.0f + a;
  const float correction = (a - (u - 1.0f)) / u;  // what 1 + a lost
  const float y = log(u) + correction;
  return ((u > 0.0f) & (u < kInfinity)) ? y : log(u);
}

GE_VM float tanh(float a) {
  const float x = abs(a);
  const float t = expm1(2.0f * (x > 10.0f ? 10.0f : x));
  const float y = t / (t + 2.0f);
  return with_sign_of(x < 1e-4f ? x : y, a);
}

// erfc(z) for z >= 0: exp(-z^2) times a polynomial in 1 / (1 + z/2); z^2 is taken in two parts.
GE_VM float erfc_of_positive(float z0) {
  const float z = z0 > 12.0f ? 12.0f : z0;
  const float head = from_bits(to_bits(z) & 0xfffff000u);
  const float e = exp_of_sum(-head * head, (head - z) * (head + z));
  const float t = 1.0f / (1.0f + 0.5f * z);
  float p = 0.0328475193862f;
  p = p * t - 0.174330473607f;
  p = p * t + 0.339699730648f;
  p = p * t - 0.229839840206f;
  p = p * t - 0.0761474132068f;
  p = p * t + 0.0678221971953f;
  p = p * t + 0.0419606155314f;
  p = p * t + 0.188971211979f;
  p = p * t + 0.244626474546f;
  p = p * t + 0.282303482146f;
  p = p * t + 0.282086497652f;
  return e * (t * p);
}
GE_VM float erfc(float a) {
  const float y = erfc_of_positive(abs(a));
  return a < 0.0f ? 2.0f - y : y;
}
GE_VM float erf(float a) {
  const float u = a * a;
  float p = -9.66704457149e-6f;
  p = p * u + 1.12659590256e-4f;
  p = p * u - 8.48408040554e-4f;
  p = p * u + 5.22103180786e-3f;
  p = p * u - 2.68654307277e-2f;
  p = p * u + 1.12837824952e-1f;
  p = p * u - 3.76126384680e-1f;
  p = p * u + 1.12837916706f;
  const float x = abs(a);
  const float large = with_sign_of(1.0f - erfc_of_positive(x), a);
  return x < 1.0f ? a * p : large;
}

GE_VM float sigmoid(float a) {
  const float z = exp(-abs(a));
  return (a < 0.0f ? z : 1.0f) / (1.0f + z);
}
GE_VM float silu(float a) {
  return a * sigmoid(a);
}
GE_VM float swish(float a, float b) {
  return a * sigmoid(b * a);
}
GE_VM float gelu(float a) {
  return 0.5f * a * erfc(a * -0.70710678118654752f);
}
GE_VM float gelu_tanh(float a) {
  const float u = 0.79788456080286536f * (a + 0.044715f * a * a * a);
  return a * sigmoid(u + u);
}
GE_VM float softplus(float a) {
  return (a < 0.0f ? 0.0f : a) + log1p(exp(-abs(a)));
}
GE_VM float mish(float a) {
  const float e = exp(a > 40.0f ? 40.0f : a);
  const float n = e * (e + 2.0f);
  return a * (n / (n + 2.0f));
}
GE_VM float elu(float a, float b) {
  return a < 0.0f ? b * expm1(a) : a;
}
GE_VM float selu(float a, float b, float c) {
  return c * (a > 0.0f ? a : b * expm1(a));
}

}  // namespace ge::vm

// Those that stand for a row of scalar_ops.def, by name and code: Xn takes n operands.
// clang-format off
#define GE_VECTOR_FUNCTIONS(X1, X2, X3)                                                         \
  X1(exp, 16) X1(log, 17) X1(expm1, 18) X1(log1p, 19) X1(tanh, 28) X1(erf, 32)                  \
  X2(elu, 67) X3(selu, 68) X1(sigmoid, 70) X1(gelu, 73) X1(gelu_tanh, 74) X1(silu, 75)          \
  X1(mish, 76) X1(softplus, 77) X2(swish, 83)
// clang-format on
