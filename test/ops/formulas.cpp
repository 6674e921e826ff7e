#include "ops/formulas.h"

#include <cmath>
#include <limits>

namespace ge::test {
namespace {

using Real = long double;
constexpr Real kPi = 3.14159265358979323846264338327950288L;

bool is_unsigned(DType dtype) {
  return is_bool(dtype) || class_of(dtype) == DTypeClass::kUnsigned;
}

// NaN in either is the result.
Real greater_of(Real a, Real b) {
  return std::isnan(a) || std::isnan(b) ? a + b : a > b ? a : b;
}
Real smaller_of(Real a, Real b) {
  return std::isnan(a) || std::isnan(b) ? a + b : a < b ? a : b;
}
Real clamped(Real x, Real low, Real high) {
  return std::isnan(x) ? x : x < low ? (low > high ? high : low) : x > high ? high : x;
}
Real floored_rest(Real a, Real b) {
  const Real rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
Real logistic(Real x) {
  return 1 / (1 + std::exp(-x));
}
Real tanh_gelu(Real a) {
  return a * logistic(2 * std::sqrt(2 / kPi) * (a + 0.044715L * a * a * a));
}

Real real_function(ScalarOp op, Real a) {
  switch (op) {
    case ScalarOp::neg:
      return -a;
    case ScalarOp::abs:
      return std::abs(a);
    case ScalarOp::sign:
      return std::isnan(a) ? a : static_cast<Real>((a > 0) - (a < 0));
    case ScalarOp::reciprocal:
      return 1 / a;
    case ScalarOp::sqrt:
      return std::sqrt(a);
    case ScalarOp::rsqrt:
      return 1 / std::sqrt(a);
    case ScalarOp::exp:
      return std::exp(a);
    case ScalarOp::log:
      return std::log(a);
    case ScalarOp::expm1:
      return std::expm1(a);
    case ScalarOp::log1p:
      return std::log1p(a);
    case ScalarOp::sin:
      return std::sin(a);
    case ScalarOp::cos:
      return std::cos(a);
    case ScalarOp::tan:
      return std::tan(a);
    case ScalarOp::asin:
      return std::asin(a);
    case ScalarOp::acos:
      return std::acos(a);
    case ScalarOp::atan:
      return std::atan(a);
    case ScalarOp::sinh:
      return std::sinh(a);
    case ScalarOp::cosh:
      return std::cosh(a);
    case ScalarOp::tanh:
      return std::tanh(a);
    case ScalarOp::asinh:
      return std::asinh(a);
    case ScalarOp::acosh:
      return std::acosh(a);
    case ScalarOp::atanh:
      return std::atanh(a);
    case ScalarOp::erf:
      return std::erf(a);
    case ScalarOp::floor:
      return std::floor(a);
    case ScalarOp::ceil:
      return std::ceil(a);
    case ScalarOp::round:
      return std::nearbyint(a);
    case ScalarOp::trunc:
      return std::trunc(a);
    case ScalarOp::is_nan:
      return std::isnan(a);
    case ScalarOp::is_inf:
      return std::isinf(a);
    case ScalarOp::relu:
      return greater_of(a, 0);
    case ScalarOp::sigmoid:
      return logistic(a);
    case ScalarOp::hard_swish:
      return a * clamped(a / 6 + 0.5L, 0, 1);
    case ScalarOp::gelu:
      return 0.5L * a * std::erfc(-a / std::sqrt(static_cast<Real>(2)));
    case ScalarOp::gelu_tanh:
      return tanh_gelu(a);
    case ScalarOp::silu:
      return a * logistic(a);
    case ScalarOp::mish:
      return a * std::tanh(std::log1p(std::exp(a)));
    case ScalarOp::softplus:
      return greater_of(a, 0) + std::log1p(std::exp(-std::abs(a)));
    case ScalarOp::softsign:
      return a / (1 + std::abs(a));
    default:
      return std::numeric_limits<Real>::quiet_NaN();  // no such row
  }
}

}  // namespace

long double real_formula(ScalarOp op, Real a, Real b, Real c) {
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::mod:
      return floored_rest(a, b);
    case ScalarOp::fmod:
      return std::fmod(a, b);
    case ScalarOp::pow:
      return std::pow(a, b);
    case ScalarOp::max:
      return greater_of(a, b);
    case ScalarOp::min:
      return smaller_of(a, b);
    case ScalarOp::equal:
      return a == b;
    case ScalarOp::not_equal:
      return a != b;
    case ScalarOp::less:
      return a < b;
    case ScalarOp::less_equal:
      return a <= b;
    case ScalarOp::greater:
      return a > b;
    case ScalarOp::greater_equal:
      return a >= b;
    case ScalarOp::leaky_relu:
      return a < 0 ? b * a : a;
    case ScalarOp::elu:
      return a < 0 ? b * std::expm1(a) : a;
    case ScalarOp::selu:
      return c * (a > 0 ? a : b * std::expm1(a));
    case ScalarOp::celu:
      return greater_of(0, a) + smaller_of(0, b * std::expm1(a / b));
    case ScalarOp::hard_sigmoid:
      return clamped(b * a + c, 0, 1);
    case ScalarOp::thresholded_relu:
      return a > b || std::isnan(a) ? a : 0;
    case ScalarOp::clamp:
      return clamped(a, b, c);
    case ScalarOp::select:
      return a != 0 ? b : c;
    case ScalarOp::shrink:
      return a < -b ? a + c : a > b ? a - c : std::isnan(a) ? a : 0;
    case ScalarOp::swish:
      return a * logistic(b * a);
    default:
      return real_function(op, a);
  }
}

Whole product(Whole a, Whole b) {
  __extension__ using Unsigned = unsigned __int128;
  return static_cast<Whole>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
}

namespace {

// In 64 bits at most: what is multiplied further has been wrapped.
Whole power_of(DType dtype, Whole base, Whole exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  Whole result = 1;
  while (exponent > 0) {
    if (exponent % 2 != 0) result = wrapped_to(dtype, product(result, base));
    base = wrapped_to(dtype, product(base, base));
    exponent /= 2;
  }
  return result;
}

Whole shifted_right(Whole a, Whole b) {  // >> of a negative number rounds down: arithmetic
  return a >> static_cast<int>(b);
}

}  // namespace

Whole whole_formula(ScalarOp op, DType dtype, Whole a, Whole b, Whole c) {
  const int bits = is_bool(dtype) ? 1 : bits_of(dtype);
  const bool shifts = b >= 0 && b < bits;
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return product(a, b);
    case ScalarOp::div:
      return b == 0 ? 0 : a / b;
    case ScalarOp::mod:
      return b == 0 ? 0 : (a % b != 0 && (a < 0) != (b < 0)) ? a % b + b : a % b;
    case ScalarOp::fmod:
      return b == 0 ? 0 : a % b;
    case ScalarOp::pow:
      return power_of(dtype, a, b);
    case ScalarOp::max:
      return a > b ? a : b;
    case ScalarOp::min:
      return a < b ? a : b;
    case ScalarOp::neg:
      return -a;
    case ScalarOp::abs:
      return a < 0 ? -a : a;
    case ScalarOp::sign:
      return (a > 0) - (a < 0);
    case ScalarOp::equal:
      return a == b;
    case ScalarOp::not_equal:
    case ScalarOp::logical_xor:
      return a != b;
    case ScalarOp::less:
      return a < b;
    case ScalarOp::less_equal:
      return a <= b;
    case ScalarOp::greater:
      return a > b;
    case ScalarOp::greater_equal:
      return a >= b;
    case ScalarOp::logical_and:
      return a != 0 && b != 0;
    case ScalarOp::logical_or:
      return a != 0 || b != 0;
    case ScalarOp::logical_not:
      return a == 0;
    case ScalarOp::bit_and:
      return a & b;
    case ScalarOp::bit_or:
      return a | b;
    case ScalarOp::bit_xor:
      return a ^ b;
    case ScalarOp::bit_not:
      return ~a;
    case ScalarOp::shift_left:
      return shifts ? product(a, static_cast<Whole>(1) << static_cast<int>(b)) : 0;
    case ScalarOp::shift_right:
      return shifts ? shifted_right(a, b) : 0;
    case ScalarOp::relu:
      return a > 0 ? a : 0;
    case ScalarOp::clamp:
      return (a < b ? b : a) > c ? c : (a < b ? b : a);
    case ScalarOp::select:
      return a != 0 ? b : c;
    default:
      return 0;
  }
}

namespace {

struct Format {
  int digits, least_exponent;  // of the significand; of the least normal number
  Real greatest;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {53, -1022, std::numeric_limits<double>::max()};
    case DType::float32:
      return {24, -126, std::numeric_limits<float>::max()};
    case DType::float16:
      return {11, -14, 65504};
    case DType::bfloat16:
      return {8, -126, 0x1.fep127L};
    case DType::float8e4m3fn:
      return {4, -6, 448};
    default:
      return {3, -14, 57344};
  }
}

}  // namespace

double rounded_to(DType dtype, Real value) {
  const bool saturates = bits_of(dtype) == 8;
  const Format f = format_of(dtype);
  if (std::isnan(value) || value == 0) return static_cast<double>(value);
  if (std::isinf(value)) return static_cast<double>(saturates ? std::copysign(f.greatest, value) : value);
  const int exponent = std::max(std::ilogb(value), f.least_exponent);
  const Real unit = std::ldexp(static_cast<Real>(1), exponent - f.digits + 1);
  const Real nearest = std::nearbyint(value / unit) * unit;
  if (std::abs(nearest) <= f.greatest) return static_cast<double>(nearest);
  return std::copysign(saturates ? static_cast<double>(f.greatest) : HUGE_VAL, static_cast<double>(value));
}

Whole wrapped_to(DType dtype, Whole value) {
  if (is_bool(dtype)) return value != 0;
  const int bits = bits_of(dtype);
  const Whole low = value & ((static_cast<Whole>(1) << bits) - 1);
  const bool negative = !is_unsigned(dtype) && (low >> (bits - 1)) != 0;
  return negative ? low - (static_cast<Whole>(1) << bits) : low;
}

Whole least_of(DType dtype) {
  return is_unsigned(dtype) ? 0 : -(static_cast<Whole>(1) << (bits_of(dtype) - 1));
}
Whole greatest_of(DType dtype) {
  if (is_bool(dtype)) return 1;
  return (static_cast<Whole>(1) << (is_unsigned(dtype) ? bits_of(dtype) : bits_of(dtype) - 1)) - 1;
}

Whole whole_of(DType dtype, Real value) {
  if (is_bool(dtype)) return value != 0;
  if (std::isnan(value)) return 0;
  if (value >= static_cast<Real>(greatest_of(dtype))) return greatest_of(dtype);
  if (value <= static_cast<Real>(least_of(dtype))) return least_of(dtype);
  return static_cast<Whole>(value);
}

}  // namespace ge::test
