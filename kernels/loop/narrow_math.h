// Functions for values that leave a loop rounded to 16 bits or fewer: float32 arithmetic whose relative error
// stays under 2^-16 (a float16 result's own rounding is 2^-12), at a fraction of the instructions of the
// exact ones. Text for NVRTC, after loop_device.h. Entry: namespace ge::narrow. Invariant: NaN, infinities
// and zeros come out as from kernels/scalar.h. Results under 2^-126, which bfloat16 holds down to 2^-133, are
// kept within 2^-135 where kSmall: what an instruction would flush to 0 is scaled before it and back after
// it.
#ifndef GE_KERNELS_NARROW_MATH_H
#define GE_KERNELS_NARROW_MATH_H

namespace ge {
namespace narrow {

GE_FN float power_of_two(float x) {  // of x >= -126; 0 below
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
GE_FN float inverse(float x) {  // of |x| in [2^-126, 2^126], of 0 and of infinities
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// What many elements are divided by: one division, then two products an element.
struct Divisor {
  float scale, inverse;
  GE_FN explicit Divisor(float b)
      : scale(fabsf(b) < 0x1p-100f ? 0x1p64f : 1.0f), inverse(1.0f / (b * scale)) {}
};
GE_FN float div(float a, const Divisor& b) {
  return a * b.scale * b.inverse;
}
GE_FN float div(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

GE_FN float rsqrt(float a) {  // within 2^-22
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(a));
  return y;
}

// kSmall: results below 2^-126 are kept. Loops whose floats are all of float16 or float8 need none.

// The product rounds at 2^-24 of x log2(e), which a float16 or bfloat16 result bounds by 16 or 128: 2^-17 at
// most.
template <bool kSmall>
GE_FN float exp(float a) {
  if (!kSmall) return power_of_two(a * 1.44269504088896340736f);
  const float root = power_of_two(a * 0.72134752044448170368f);
  return root * root;
}
// 1 / (1 + exp(-a)); kSmall: both sides of the division times 2^-16, which is right down to a = -98, where a
// * sigmoid(a) leaves bfloat16 too.
template <bool kSmall>
GE_FN float sigmoid(float a) {
  if (!kSmall) return inverse(1.0f + exp<false>(-a));
  return inverse(power_of_two(fmaf(a, -1.44269504088896340736f, -16.0f)) + 0x1p-16f) * 0x1p-16f;
}
template <bool kSmall>
GE_FN float silu(float a) {
  return a * sigmoid<kSmall>(a);
}
template <bool kSmall>
GE_FN float swish(float a, float b) {
  return a * sigmoid<kSmall>(b * a);
}
template <bool kSmall>
GE_FN float gelu_tanh(float a) {
  const float u = 0.79788456080286535588f * (a + 0.044715f * a * a * a);
  return a * sigmoid<kSmall>(u + u);
}
GE_FN float hard_swish(float a) {
  return a * scalar::clamp<float>(a * 0.16666666666666666667f + 0.5f, 0.0f, 1.0f);
}

// The normal distribution's upper tail, Q(z) = erfc(z / sqrt(2)) / 2 for z >= 0, as two to the power of a
// polynomial fitted to log2 Q (Lawson's weights). For bfloat16, times 2^24, on [0, 14], where it ends:
// relative error 1e-5 up to 6 and 7e-4 up to 14. 0 at the end, so that -infinity has no gelu.
GE_FN float scaled_upper_tail(float z) {
  z = fminf(z, 14.4f);
  float p = -2.0243175e-09f;
  p = fmaf(p, z, 1.49394522e-07f);
  p = fmaf(p, z, -4.79320138e-06f);
  p = fmaf(p, z, 8.86956327e-05f);
  p = fmaf(p, z, -0.0010638545f);
  p = fmaf(p, z, 0.00887323171f);
  p = fmaf(p, z, -0.05449996f);
  p = fmaf(p, z, -0.458078731f);
  p = fmaf(p, z, -1.15135343f);
  return power_of_two(fmaf(p, z, 24 - 0.99999099f));
}
// For float16, on [0, 6.5]: relative error 1e-5. Above, where a float16 result is 0, it falls faster than Q,
// to 0 as well.
GE_FN float upper_tail(float z) {
  float p = -1.75773914e-06f;
  p = fmaf(p, z, 5.99357663e-05f);
  p = fmaf(p, z, -0.00091635593f);
  p = fmaf(p, z, 0.00844735559f);
  p = fmaf(p, z, -0.0538244359f);
  p = fmaf(p, z, -0.458615780f);
  p = fmaf(p, z, -1.15118015f);
  return power_of_two(fmaf(p, z, -1.0f));
}
template <bool kSmall>
GE_FN float gelu(float a) {
  const float q = kSmall ? scaled_upper_tail(fabsf(a)) * 0x1p-24f : upper_tail(fabsf(a));
  return a * (a < 0 ? q : 1.0f - q);
}

}  // namespace narrow
}  // namespace ge
#endif
