// Elements of any dtype as double, int64 or float. Entry: load_as_double, load_as_int64, store_from_*,
// convert_*. Rules: to a float type: nearest even, rounded once (float8 saturates); float to integer:
// truncates toward zero, saturates, NaN gives 0; integer to narrower integer wraps; bool stores value != 0
// (NaN is true). uint64 travels in int64 as its bits.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>

#include "numeric/bfloat16.h"
#include "numeric/dtype.h"
#include "numeric/float16.h"
#include "numeric/float8.h"
#include "numeric/int4.h"

namespace ge {

// Truncates toward zero into T's range; NaN gives 0.
template <class T>
constexpr T saturate_to(double value) {
  if (!(value == value)) return 0;
  // The first double past the range on each side: exact for every T (2^(bits-1) or 2^bits, and -2^(bits-1) -
  // 1 or -1).
  constexpr double kPast = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
  if (value >= kPast) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

namespace detail {
template <class T>
T element(const void* base, int64_t index) {
  T v;
  std::memcpy(&v, static_cast<const char*>(base) + index * static_cast<int64_t>(sizeof(T)), sizeof v);
  return v;
}
template <class T>
void set_element(void* base, int64_t index, T v) {
  std::memcpy(static_cast<char*>(base) + index * static_cast<int64_t>(sizeof(T)), &v, sizeof v);
}
}  // namespace detail

// Element `index` of a dense array (4-bit types: of its nibbles). Exact for all types but int64/uint64 past
// 2^53.
inline double load_as_double(DType dtype, const void* src, int64_t index) {
  using detail::element;
  switch (dtype) {
    case DType::float64:
      return element<double>(src, index);
    case DType::float32:
      return element<float>(src, index);
    case DType::float16:
      return float16_to_float(element<uint16_t>(src, index));
    case DType::bfloat16:
      return bfloat16_to_float(element<uint16_t>(src, index));
    case DType::float8e4m3fn:
      return float8e4m3fn_to_float(element<uint8_t>(src, index));
    case DType::float8e5m2:
      return float8e5m2_to_float(element<uint8_t>(src, index));
    case DType::int64:
      return static_cast<double>(element<int64_t>(src, index));
    case DType::int32:
      return element<int32_t>(src, index);
    case DType::int16:
      return element<int16_t>(src, index);
    case DType::int8:
      return element<int8_t>(src, index);
    case DType::int4:
      return load_int4(static_cast<const uint8_t*>(src), index);
    case DType::uint64:
      return static_cast<double>(element<uint64_t>(src, index));
    case DType::uint32:
      return element<uint32_t>(src, index);
    case DType::uint16:
      return element<uint16_t>(src, index);
    case DType::uint8:
      return element<uint8_t>(src, index);
    case DType::uint4:
      return load_uint4(static_cast<const uint8_t*>(src), index);
    case DType::boolean:
      return element<uint8_t>(src, index) != 0;
  }
  return 0;
}

// Float types truncate and saturate to int64's range; uint64 comes as its bits.
inline int64_t load_as_int64(DType dtype, const void* src, int64_t index) {
  using detail::element;
  switch (dtype) {
    case DType::int64:
    case DType::uint64:
      return element<int64_t>(src, index);
    case DType::int32:
      return element<int32_t>(src, index);
    case DType::int16:
      return element<int16_t>(src, index);
    case DType::int8:
      return element<int8_t>(src, index);
    case DType::int4:
      return load_int4(static_cast<const uint8_t*>(src), index);
    case DType::uint32:
      return element<uint32_t>(src, index);
    case DType::uint16:
      return element<uint16_t>(src, index);
    case DType::uint8:
      return element<uint8_t>(src, index);
    case DType::uint4:
      return load_uint4(static_cast<const uint8_t*>(src), index);
    case DType::boolean:
      return element<uint8_t>(src, index) != 0;
    default:
      return saturate_to<int64_t>(load_as_double(dtype, src, index));
  }
}

inline void store_from_double(DType dtype, void* dst, int64_t index, double value) {
  using detail::set_element;
  const auto nibble = [](double v, double low, double high) {
    const double cut = v == v ? (v < low ? low : v > high ? high : v) : 0;
    return static_cast<uint8_t>(static_cast<int>(cut) & 0xf);
  };
  switch (dtype) {
    case DType::float64:
      return set_element(dst, index, value);
    case DType::float32:
      return set_element(dst, index, static_cast<float>(value));
    case DType::float16:
      return set_element(dst, index, float16_from_double(value));
    case DType::bfloat16:
      return set_element(dst, index, bfloat16_from_double(value));
    case DType::float8e4m3fn:
      return set_element(dst, index, float8e4m3fn_from_double(value));
    case DType::float8e5m2:
      return set_element(dst, index, float8e5m2_from_double(value));
    case DType::int64:
      return set_element(dst, index, saturate_to<int64_t>(value));
    case DType::int32:
      return set_element(dst, index, saturate_to<int32_t>(value));
    case DType::int16:
      return set_element(dst, index, saturate_to<int16_t>(value));
    case DType::int8:
      return set_element(dst, index, saturate_to<int8_t>(value));
    case DType::int4:
      return store_nibble(static_cast<uint8_t*>(dst), index, nibble(value, -8, 7));
    case DType::uint64:
      return set_element(dst, index, saturate_to<uint64_t>(value));
    case DType::uint32:
      return set_element(dst, index, saturate_to<uint32_t>(value));
    case DType::uint16:
      return set_element(dst, index, saturate_to<uint16_t>(value));
    case DType::uint8:
      return set_element(dst, index, saturate_to<uint8_t>(value));
    case DType::uint4:
      return store_nibble(static_cast<uint8_t*>(dst), index, nibble(value, 0, 15));
    case DType::boolean:
      return set_element(dst, index, static_cast<uint8_t>(value != 0));
  }
}

// Integer types wrap; float types round once (from the int64 itself). Values of uint64 arrays are not
// negative when stored to floats: use store_from_uint64 where the source is uint64.
void store_from_int64(DType dtype, void* dst, int64_t index, int64_t value);
void store_from_uint64(DType dtype, void* dst, int64_t index, uint64_t value);

// Arrays. src and dst must not overlap. Float sources narrower than double and integers of up to 24 bits come
// exact; others round once.
void convert_to_float(DType src_dtype, const void* src, int64_t count, float* dst);
void convert_from_float(const float* src, int64_t count, DType dst_dtype, void* dst);
// ONNX Cast between any two types by the rules above.
void convert(DType src_dtype, const void* src, int64_t count, DType dst_dtype, void* dst);

}  // namespace ge
