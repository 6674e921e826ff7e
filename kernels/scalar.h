// Every scalar op of lib/contract/scalar_ops.def as a function template: ge::scalar::add<T>(a, b) and so on.
// One source for three readers: host C++ (T = double is the reference), nvcc, and the text NVRTC gets (no
// headers there). T is float, double, bool or any integer type; compare ops give bool. Rules
// (docs/architecture.md, Numbers): NaN passes through max, min, relu, clamp; integer x/0 and x mod 0 are 0,
// INT_MIN/-1 wraps, overflow wraps, shifts by the width or more (or by a negative amount) give 0; an integer
// to a negative power is 0 unless the base is 1 or -1.
#ifndef GE_KERNELS_SCALAR_H
#define GE_KERNELS_SCALAR_H

// Internal linkage on the host: a file compiled for a newer instruction set must not lend its copy to the
// others.
#if defined(__CUDACC_RTC__)
#define GE_FN __device__ __forceinline__
#elif defined(__CUDACC__)
#define GE_FN __host__ __device__ __forceinline__
#else
#define GE_FN static inline __attribute__((always_inline))
#endif

namespace ge {
namespace scalar {

// ---- facts about T, without <type_traits> ----
template <class T>
struct Facts;
#define GE_INTEGER_FACTS(type, wide, bits, is_signed)                                                        \
  template <>                                                                                                \
  struct Facts<type> {                                                                                       \
    using Wide = wide; /* unsigned, no narrower than unsigned int: its arithmetic wraps without promotion */ \
    static constexpr int kBits = bits;                                                                       \
    static constexpr bool kFloat = false, kInteger = true, kSigned = is_signed;                              \
  };
GE_INTEGER_FACTS(signed char, unsigned int, 8, true)
GE_INTEGER_FACTS(short, unsigned int, 16, true)
GE_INTEGER_FACTS(int, unsigned int, 32, true)
GE_INTEGER_FACTS(long, unsigned long long, static_cast<int>(sizeof(long) * 8), true)
GE_INTEGER_FACTS(long long, unsigned long long, 64, true)
GE_INTEGER_FACTS(unsigned char, unsigned int, 8, false)
GE_INTEGER_FACTS(unsigned short, unsigned int, 16, false)
GE_INTEGER_FACTS(unsigned int, unsigned int, 32, false)
GE_INTEGER_FACTS(unsigned long, unsigned long long, static_cast<int>(sizeof(long) * 8), false)
GE_INTEGER_FACTS(unsigned long long, unsigned long long, 64, false)
#undef GE_INTEGER_FACTS
template <>
struct Facts<float> {
  static constexpr bool kFloat = true, kInteger = false, kSigned = true;
};
template <>
struct Facts<double> {
  static constexpr bool kFloat = true, kInteger = false, kSigned = true;
};
template <>
struct Facts<bool> {
  static constexpr bool kFloat = false, kInteger = false, kSigned = false;
};

// ---- the C math library by overload: m::exp(float) and m::exp(double) ----
namespace m {
#if defined(__CUDACC_RTC__) || defined(__CUDA_ARCH__)
#define GE_MATH_NAME(name) ::name
#else
#define GE_MATH_NAME(name) __builtin_##name
#endif
#define GE_MATH_1(name)              \
  GE_FN float name(float a) {        \
    return GE_MATH_NAME(name##f)(a); \
  }                                  \
  GE_FN double name(double a) {      \
    return GE_MATH_NAME(name)(a);    \
  }
#define GE_MATH_2(name)                   \
  GE_FN float name(float a, float b) {    \
    return GE_MATH_NAME(name##f)(a, b);   \
  }                                       \
  GE_FN double name(double a, double b) { \
    return GE_MATH_NAME(name)(a, b);      \
  }
// clang-format off
GE_MATH_1(sqrt) GE_MATH_1(exp) GE_MATH_1(log) GE_MATH_1(expm1) GE_MATH_1(log1p) GE_MATH_1(sin) GE_MATH_1(cos)
GE_MATH_1(tan) GE_MATH_1(asin) GE_MATH_1(acos) GE_MATH_1(atan) GE_MATH_1(sinh) GE_MATH_1(cosh) GE_MATH_1(tanh)
GE_MATH_1(asinh) GE_MATH_1(acosh) GE_MATH_1(atanh) GE_MATH_1(erf) GE_MATH_1(erfc) GE_MATH_1(floor)
GE_MATH_1(ceil) GE_MATH_1(rint) GE_MATH_1(trunc) GE_MATH_1(fabs) GE_MATH_2(fmod) GE_MATH_2(pow)
GE_MATH_2(copysign)
// clang-format on
#undef GE_MATH_1
#undef GE_MATH_2
#undef GE_MATH_NAME
}  // namespace m

// ---- arithmetic ----
template <class T>
GE_FN T add(T a, T b) {
  if constexpr (Facts<T>::kFloat)
    return a + b;
  else
    return static_cast<T>(static_cast<typename Facts<T>::Wide>(a) + static_cast<typename Facts<T>::Wide>(b));
}
template <class T>
GE_FN T sub(T a, T b) {
  if constexpr (Facts<T>::kFloat)
    return a - b;
  else
    return static_cast<T>(static_cast<typename Facts<T>::Wide>(a) - static_cast<typename Facts<T>::Wide>(b));
}
template <class T>
GE_FN T mul(T a, T b) {
  if constexpr (Facts<T>::kFloat)
    return a * b;
  else
    return static_cast<T>(static_cast<typename Facts<T>::Wide>(a) * static_cast<typename Facts<T>::Wide>(b));
}
template <class T>
GE_FN T neg(T a) {
  if constexpr (Facts<T>::kFloat)
    return -a;
  else
    return sub<T>(0, a);
}
template <class T>
GE_FN T abs(T a) {
  if constexpr (Facts<T>::kFloat)
    return m::fabs(a);
  else
    return a < 0 ? neg<T>(a) : a;
}
template <class T>
GE_FN bool is_minus_one(T a) {
  if constexpr (Facts<T>::kSigned)
    return a == static_cast<T>(-1);
  else
    return false;
}
template <class T>
GE_FN T div(T a, T b) {
  if constexpr (Facts<T>::kFloat)
    return a / b;
  else
    return b == 0 ? static_cast<T>(0) : is_minus_one<T>(b) ? neg<T>(a) : static_cast<T>(a / b);
}
template <class T>
GE_FN T fmod(T a, T b) {
  if constexpr (Facts<T>::kFloat)
    return m::fmod(a, b);
  else
    return b == 0 || is_minus_one<T>(b) ? static_cast<T>(0) : static_cast<T>(a % b);
}
template <class T>
GE_FN T mod(T a, T b) {
  T r = fmod<T>(a, b);
  if constexpr (Facts<T>::kFloat)
    return r == 0 ? m::copysign(T(0), b) : (r < 0) != (b < 0) ? r + b : r;
  else
    return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}
template <class T>
GE_FN T integer_power(T base, T exponent) {
  if (exponent < 0)
    return base == 1               ? base
           : is_minus_one<T>(base) ? (exponent % 2 != 0 ? base : static_cast<T>(1))
                                   : static_cast<T>(0);
  T result = 1;
  for (; exponent != 0; exponent = static_cast<T>(exponent / 2)) {
    if (exponent % 2 != 0) result = mul<T>(result, base);
    base = mul<T>(base, base);
  }
  return result;
}
template <class T>
GE_FN T pow(T a, T b) {
  if constexpr (Facts<T>::kFloat)
    return m::pow(a, b);
  else
    return integer_power<T>(a, b);
}
// A NaN in either operand is the result; `a != a` is never true for integers and folds away.
template <class T>
GE_FN T max(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
GE_FN T min(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
GE_FN T sign(T a) {
  if constexpr (Facts<T>::kFloat)
    return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a;
  else
    return a > 0 ? static_cast<T>(1) : a < 0 ? static_cast<T>(-1) : static_cast<T>(0);
}
template <class T>
GE_FN T reciprocal(T a) {
  return T(1) / a;
}

// ---- compare, logic, bits ----
template <class T>
GE_FN bool equal(T a, T b) {
  return a == b;
}
template <class T>
GE_FN bool not_equal(T a, T b) {
  return a != b;
}
template <class T>
GE_FN bool less(T a, T b) {
  return a < b;
}
template <class T>
GE_FN bool less_equal(T a, T b) {
  return a <= b;
}
template <class T>
GE_FN bool greater(T a, T b) {
  return a > b;
}
template <class T>
GE_FN bool greater_equal(T a, T b) {
  return a >= b;
}
template <class T>
GE_FN T logical_and(T a, T b) {
  return a && b;
}
template <class T>
GE_FN T logical_or(T a, T b) {
  return a || b;
}
template <class T>
GE_FN T logical_xor(T a, T b) {
  return a != b;
}
template <class T>
GE_FN T logical_not(T a) {
  return !a;
}
template <class T>
GE_FN bool is_nan(T a) {
  return a != a;
}
template <class T>
GE_FN bool is_inf(T a) {
  return a == a && a - a != 0;
}
template <class T>
GE_FN T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
GE_FN T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
GE_FN T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
GE_FN T bit_not(T a) {
  return static_cast<T>(~a);
}
template <class T>
GE_FN bool shift_in_range(T b) {
  return static_cast<unsigned long long>(b) <
         static_cast<unsigned long long>(Facts<T>::kBits);  // negative: a huge value
}
template <class T>
GE_FN T shift_left(T a, T b) {
  return shift_in_range<T>(b) ? static_cast<T>(static_cast<typename Facts<T>::Wide>(a) << b)
                              : static_cast<T>(0);
}
template <class T>
GE_FN T shift_right(T a, T b) {
  return shift_in_range<T>(b) ? static_cast<T>(a >> b) : static_cast<T>(0);
}
template <class T>
GE_FN T select(bool a, T b, T c) {
  return a ? b : c;
}
template <class T>
GE_FN T clamp(T a, T b, T c) {
  const T low = a < b ? b : a;  // NaN in a fails both comparisons and stays
  return low > c ? c : low;
}

// ---- real functions ----
template <class T>
GE_FN T sqrt(T a) {
  return m::sqrt(a);
}
template <class T>
GE_FN T rsqrt(T a) {
  return T(1) / m::sqrt(a);
}
template <class T>
GE_FN T exp(T a) {
  return m::exp(a);
}
template <class T>
GE_FN T log(T a) {
  return m::log(a);
}
template <class T>
GE_FN T expm1(T a) {
  return m::expm1(a);
}
template <class T>
GE_FN T log1p(T a) {
  return m::log1p(a);
}
template <class T>
GE_FN T sin(T a) {
  return m::sin(a);
}
template <class T>
GE_FN T cos(T a) {
  return m::cos(a);
}
template <class T>
GE_FN T tan(T a) {
  return m::tan(a);
}
template <class T>
GE_FN T asin(T a) {
  return m::asin(a);
}
template <class T>
GE_FN T acos(T a) {
  return m::acos(a);
}
template <class T>
GE_FN T atan(T a) {
  return m::atan(a);
}
template <class T>
GE_FN T sinh(T a) {
  return m::sinh(a);
}
template <class T>
GE_FN T cosh(T a) {
  return m::cosh(a);
}
template <class T>
GE_FN T tanh(T a) {
  return m::tanh(a);
}
template <class T>
GE_FN T asinh(T a) {
  return m::asinh(a);
}
template <class T>
GE_FN T acosh(T a) {
  return m::acosh(a);
}
template <class T>
GE_FN T atanh(T a) {
  return m::atanh(a);
}
template <class T>
GE_FN T erf(T a) {
  return m::erf(a);
}
template <class T>
GE_FN T floor(T a) {
  return m::floor(a);
}
template <class T>
GE_FN T ceil(T a) {
  return m::ceil(a);
}
template <class T>
GE_FN T round(T a) {
  return m::rint(a);
}  // the rounding mode is nearest even, always
template <class T>
GE_FN T trunc(T a) {
  return m::trunc(a);
}

// ---- activations; each is written so that no intermediate overflows or cancels where the result does not
// ----
template <class T>
GE_FN T relu(T a) {
  return a < 0 ? static_cast<T>(0) : a;
}
template <class T>
GE_FN T leaky_relu(T a, T b) {
  return a < 0 ? b * a : a;
}
template <class T>
GE_FN T elu(T a, T b) {
  return a < 0 ? b * m::expm1(a) : a;
}
template <class T>
GE_FN T selu(T a, T b, T c) {
  return c * (a > 0 ? a : b * m::expm1(a));
}
template <class T>
GE_FN T celu(T a, T b) {
  return max<T>(0, a) + min<T>(0, b * m::expm1(a / b));
}
template <class T>
GE_FN T sigmoid(T a) {
  const T z = m::exp(-m::fabs(a));  // in (0, 1]
  return (a < 0 ? z : T(1)) / (T(1) + z);
}
template <class T>
GE_FN T hard_sigmoid(T a, T b, T c) {
  return clamp<T>(b * a + c, 0, 1);
}
template <class T>
GE_FN T hard_swish(T a) {
  return a * clamp<T>(a / T(6) + T(0.5), 0, 1);
}
// 1 + erf(x) is erfc(-x): no cancellation in the negative tail.
template <class T>
GE_FN T gelu(T a) {
  return T(0.5) * a * m::erfc(-a * T(0.70710678118654752440));
}
// 0.5 (1 + tanh u) is sigmoid(2 u).
template <class T>
GE_FN T gelu_tanh(T a) {
  const T u = T(0.79788456080286535588) * (a + T(0.044715) * a * a * a);
  return a * sigmoid<T>(u + u);
}
template <class T>
GE_FN T silu(T a) {
  return a * sigmoid<T>(a);
}
template <class T>
GE_FN T swish(T a, T b) {
  return a * sigmoid<T>(b * a);
}
template <class T>
GE_FN T softplus(T a) {
  return max<T>(a, 0) + m::log1p(m::exp(-m::fabs(a)));
}
// tanh(log(1 + e)) is n / (n + 2) with n = e (e + 2); past 40 the quotient is 1 in double.
template <class T>
GE_FN T mish(T a) {
  const T e = m::exp(a > T(40) ? T(40) : a);
  const T n = e * (e + T(2));
  return a * (n / (n + T(2)));
}
template <class T>
GE_FN T softsign(T a) {
  return a / (T(1) + m::fabs(a));
}
template <class T>
GE_FN T thresholded_relu(T a, T b) {
  return a > b || a != a ? a : T(0);
}
template <class T>
GE_FN T shrink(T a, T b, T c) {
  return a < -b ? a + c : a > b ? a - c : a == a ? T(0) : a;
}

}  // namespace scalar
}  // namespace ge
#endif
