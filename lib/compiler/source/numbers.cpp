// JSON numbers as elements of every dtype: exact for integers, rounded once for floats.
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/source/weights.h"
#include "numeric/convert.h"
#include "numeric/float8.h"

namespace ge {

std::optional<double> special_number(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

namespace {

struct Range {
  int64_t low;
  uint64_t high;
};
Range range_of(DType dtype) {
  const int bits = bits_of(dtype);
  if (class_of(dtype) == DTypeClass::kUnsigned)
    return {0, bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1};
  const uint64_t half = uint64_t{1} << (bits - 1);
  return {-static_cast<int64_t>(half - 1) - 1, half - 1};
}

bool store_integer(const Value& number, DType dtype, std::byte* bytes, int64_t index, std::string& why) {
  const Range range = range_of(dtype);
  const auto value = number.number();
  const bool is_integer = value && value->kind != ValueKind::kDouble;
  const bool negative = is_integer && value->kind == ValueKind::kInt64 && value->bits >> 63;
  const auto integer = is_integer ? static_cast<int64_t>(value->bits) : 0;
  if (!is_integer || (negative ? integer < range.low : value->bits > range.high)) {
    why = "allowed " + std::to_string(range.low) + " .. " + std::to_string(range.high);
    if (value && !is_integer) why = "it has a fraction or an exponent; " + why;
    return false;
  }
  store_from_int64(dtype, bytes, index, integer);
  return true;
}

bool store_bool(const Value& number, std::byte* bytes, int64_t index, std::string& why) {
  const auto flag = number.as_bool();
  const auto value = number.as_int64();
  if (!flag && !(value && (*value == 0 || *value == 1))) {
    why = "allowed true, false, 1, 0";
    return false;
  }
  store_from_int64(DType::boolean, bytes, index, flag ? *flag : *value);
  return true;
}

// float8e4m3fn has no infinity, and what is past its largest number is no number of it; casts saturate, data
// must fit.
bool store_float8(double value, DType dtype, std::byte* bytes, int64_t index, std::string& why) {
  const bool has_infinity = dtype == DType::float8e5m2;
  const uint8_t bits =
      has_infinity ? float8e5m2_from_double(value, false) : float8e4m3fn_from_double(value, false);
  bytes[index] = std::byte{bits};
  const double stored = load_as_double(dtype, bytes, index);
  if (std::isinf(stored) == std::isinf(value) && std::isnan(stored) == std::isnan(value)) return true;
  why = has_infinity ? "it is too large for this dtype; write \"Infinity\" where that is meant"
                     : "this dtype ends at 448 and has no infinity";
  return false;
}

bool store_float(const Value& number, DType dtype, std::byte* bytes, int64_t index, std::string& why) {
  if (number.is_string()) {
    const auto special = special_number(*number.as_string());
    if (!special) {
      why = "allowed numbers, \"NaN\", \"Infinity\", \"-Infinity\"";
      return false;
    }
    if (bits_of(dtype) == 8) return store_float8(*special, dtype, bytes, index, why);
    store_from_double(dtype, bytes, index, *special);
    return true;
  }
  const auto value = number.number();
  if (!value) {
    why = "allowed numbers";
    return false;
  }
  if (bits_of(dtype) == 8) return store_float8(*number.as_double(), dtype, bytes, index, why);
  if (value->kind == ValueKind::kInt64) {
    store_from_int64(dtype, bytes, index, static_cast<int64_t>(value->bits));
  } else if (value->kind == ValueKind::kUint64) {
    store_from_uint64(dtype, bytes, index, value->bits);
  } else {
    store_from_double(dtype, bytes, index, std::bit_cast<double>(value->bits));
  }
  if (std::isinf(load_as_double(dtype, bytes, index))) {
    why = "it is too large for this dtype; write \"Infinity\" where that is meant";
    return false;
  }
  return true;
}

}  // namespace

bool store_number(const Value& number, DType dtype, std::byte* bytes, int64_t index, std::string& why) {
  if (is_bool(dtype)) return store_bool(number, bytes, index, why);
  return is_float(dtype) ? store_float(number, dtype, bytes, index, why)
                         : store_integer(number, dtype, bytes, index, why);
}

}  // namespace ge
