// apply_real and apply_integer: one switch over scalar_ops.def for each element type.
#include "kernels/scalar_reference.h"

#include "kernels/scalar.h"

namespace ge::scalar {
namespace {

template <class T>
constexpr bool takes_number() {
  return Facts<T>::kFloat || Facts<T>::kInteger;
}
template <class T>
constexpr bool takes_real() {
  return Facts<T>::kFloat;
}
template <class T>
constexpr bool takes_integer() {
  return Facts<T>::kInteger;
}
template <class T>
constexpr bool takes_boolean() {
  return !takes_number<T>();
}
template <class T>
constexpr bool takes_any() {
  return true;
}

template <class T, class Result>
Result apply(uint16_t code, T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {
#define GE_CALL_1(name) name<T>(a)
#define GE_CALL_2(name) name<T>(a, b)
#define GE_CALL_3(name) name<T>(a, b, c)
  switch (code) {
#define GE_SCALAR_OP(name, code, arity, domain, ...)                                      \
  case code:                                                                              \
    if constexpr (takes_##domain<T>()) return static_cast<Result>(GE_CALL_##arity(name)); \
    break;
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
  }
  return 0;
}

template <class T>
int64_t apply_as(uint16_t code, int64_t a, int64_t b, int64_t c) {
  return apply<T, int64_t>(code, static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
}

// 4-bit types compute in 8 bits: only shifts see the width, and the result is cut to its nibble.
int64_t apply_nibble(uint16_t code, bool is_signed, int64_t a, int64_t b, int64_t c) {
  constexpr uint16_t kShiftLeft = 59, kShiftRight = 60;
  if ((code == kShiftLeft || code == kShiftRight) && (b < 0 || b >= 4)) return 0;
  if (is_signed) return ((apply_as<int8_t>(code, a, b, c) & 0xf) ^ 8) - 8;
  return apply_as<uint8_t>(code, a, b, c) & 0xf;
}

bool gives_boolean(uint16_t code) {
  constexpr bool same = false, boolean = true;
  switch (code) {
#define GE_SCALAR_OP(name, code, arity, domain, result, ...) \
  case code:                                                 \
    return result;
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
  }
  return same && boolean;
}

}  // namespace

double apply_real(uint16_t code, double a, double b, double c) {
  return apply<double, double>(code, a, b, c);
}

int64_t apply_integer(uint16_t code, DType dtype, int64_t a, int64_t b, int64_t c) {
  constexpr uint16_t kSelect = 81;
  if (code == kSelect) return a != 0 ? b : c;  // the condition is no element of `dtype`
  switch (dtype) {
    case DType::int64:
      return apply_as<int64_t>(code, a, b, c);
    case DType::int32:
      return apply_as<int32_t>(code, a, b, c);
    case DType::int16:
      return apply_as<int16_t>(code, a, b, c);
    case DType::int8:
      return apply_as<int8_t>(code, a, b, c);
    case DType::uint64:
      return apply_as<uint64_t>(code, a, b, c);
    case DType::uint32:
      return apply_as<uint32_t>(code, a, b, c);
    case DType::uint16:
      return apply_as<uint16_t>(code, a, b, c);
    case DType::uint8:
      return apply_as<uint8_t>(code, a, b, c);
    case DType::boolean:
      return apply_as<bool>(code, a, b, c);
    case DType::int4:
    case DType::uint4:
      if (gives_boolean(code)) return apply_as<int8_t>(code, a, b, c);
      return apply_nibble(code, dtype == DType::int4, a, b, c);
    default:
      return 0;
  }
}

}  // namespace ge::scalar
