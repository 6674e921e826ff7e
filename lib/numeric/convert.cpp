// Array conversions. Entry: convert, convert_to_float, convert_from_float. Blocks go through double (float
// sources) or 64-bit integers (the rest), both of which hold every source exactly, so each result is rounded
// once. float16 <-> float uses F16C where the machine has it (asked at run time), with the same results as
// the portable code.
#include "numeric/convert.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace ge {
namespace {

using detail::element;
using detail::set_element;

constexpr int64_t kBlock =
    512;  // elements; even, so that 4-bit blocks start on a byte; 4 KiB of double stay in L1

#if defined(__x86_64__)
bool have_f16c() {
  // clang 14 has no "f16c" in __builtin_cpu_supports; "avx" there also says that the system keeps the wide
  // registers.
  static const bool have = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
  }();
  return have;
}

// Both return how many elements they did: a multiple of 8.
__attribute__((target("avx,f16c"))) int64_t halves_to_floats(const void* src, int64_t count, float* dst) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(static_cast<const char*>(src) + i * 2));
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(half));
  }
  return i;
}

// The instruction keeps the upper bits of a NaN's payload, the portable code makes the plain quiet NaN:
// blend, so that both agree.
__attribute__((target("avx,f16c"))) int64_t floats_to_halves(const float* src, int64_t count, void* dst) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(src + i);
    const __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    const __m256 clean = _mm256_blendv_ps(value, _mm256_or_ps(_mm256_and_ps(value, sign), quiet), nan);
    const __m128i half = _mm256_cvtps_ph(clean, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(static_cast<char*>(dst) + i * 2), half);
  }
  return i;
}
#else
bool have_f16c() {
  return false;
}
int64_t halves_to_floats(const void*, int64_t, float*) {
  return 0;
}
int64_t floats_to_halves(const float*, int64_t, void*) {
  return 0;
}
#endif

void halves_to_float_array(const void* src, int64_t count, float* dst) {
  int64_t i = have_f16c() ? halves_to_floats(src, count, dst) : 0;
  for (; i < count; ++i) dst[i] = float16_to_float(element<uint16_t>(src, i));
}

void float_array_to_halves(const float* src, int64_t count, void* dst) {
  int64_t i = have_f16c() ? floats_to_halves(src, count, dst) : 0;
  for (; i < count; ++i) set_element(dst, i, float16_from_float(src[i]));
}

// Calls f with a value of the C++ type that stores `dtype` where there is one (the numbers wider than 4 bits
// that are no small floats); false otherwise.
template <class F>
bool with_plain_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float64:
      return f(double{}), true;
    case DType::float32:
      return f(float{}), true;
    case DType::int64:
      return f(int64_t{}), true;
    case DType::int32:
      return f(int32_t{}), true;
    case DType::int16:
      return f(int16_t{}), true;
    case DType::int8:
      return f(int8_t{}), true;
    case DType::uint64:
      return f(uint64_t{}), true;
    case DType::uint32:
      return f(uint32_t{}), true;
    case DType::uint16:
      return f(uint16_t{}), true;
    case DType::uint8:
      return f(uint8_t{}), true;
    default:
      return false;
  }
}

// src[first ..] to `to`, which is exact for To = double (float sources), float (narrow float sources) or
// int64/uint64 (integers).
template <class To>
void load_block(DType dtype, const void* src, int64_t first, int64_t count, To* to) {
  const bool plain = with_plain_type(dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(element<T>(src, first + i));
  });
  if (plain) return;
  if (dtype == DType::bfloat16) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<To>(bfloat16_to_float(element<uint16_t>(src, first + i)));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(load_as_double(dtype, src, first + i));
}

template <class From>
void store_floats(DType dtype, void* dst, int64_t first, int64_t count, const From* from) {
  const bool plain = with_plain_type(dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        set_element(dst, first + i, saturate_to<T>(from[i]));
      } else {
        set_element(dst, first + i, static_cast<T>(from[i]));
      }
    }
  });
  if (plain) return;
  if constexpr (std::is_same_v<From, float>) {
    if (dtype == DType::bfloat16) {
      for (int64_t i = 0; i < count; ++i) set_element(dst, first + i, bfloat16_from_float(from[i]));
      return;
    }
  }
  for (int64_t i = 0; i < count; ++i) store_from_double(dtype, dst, first + i, from[i]);
}

// An integer as a double that rounds on to a narrower float as the integer itself would: past 53 bits the
// lost bits are kept as one sticky low bit ("round to odd").
double sticky_double(uint64_t magnitude, bool negative) {
  const int dropped = std::max(0, 11 - std::countl_zero(magnitude));
  if (dropped > 0) {
    const uint64_t lost = magnitude & ((uint64_t{1} << dropped) - 1);
    magnitude = ((magnitude >> dropped) | (lost ? 1 : 0)) << dropped;
  }
  const double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}
double sticky_double(int64_t v) {
  const auto bits = static_cast<uint64_t>(v);
  return sticky_double(v < 0 ? 0 - bits : bits, v < 0);
}
double sticky_double(uint64_t v) {
  return sticky_double(v, false);
}

template <class From>
void store_integer(DType dtype, void* dst, int64_t index, From value) {
  const bool plain = with_plain_type(dtype, [&](auto type) {
    set_element(dst, index,
                static_cast<decltype(type)>(value));  // modulo for integers, nearest even for floats
  });
  if (plain) return;
  switch (dtype) {
    case DType::int4:
    case DType::uint4:
      return store_nibble(static_cast<uint8_t*>(dst), index, static_cast<uint8_t>(value));
    case DType::boolean:
      return set_element(dst, index, static_cast<uint8_t>(value != 0));
    default:
      return store_from_double(dtype, dst, index, sticky_double(value));
  }
}

template <class From>
void store_integers(DType dtype, void* dst, int64_t first, int64_t count, const From* from) {
  const bool plain = with_plain_type(dtype, [&](auto type) {
    using T = decltype(type);
    for (int64_t i = 0; i < count; ++i) set_element(dst, first + i, static_cast<T>(from[i]));
  });
  if (plain) return;
  for (int64_t i = 0; i < count; ++i) store_integer(dtype, dst, first + i, from[i]);
}

// An odd number of 4-bit elements leaves half a byte: it is 0.
void clear_padding(DType dtype, int64_t count, void* dst) {
  if (bits_of(dtype) == 4 && count % 2 != 0) static_cast<uint8_t*>(dst)[count / 2] = 0;
}

}  // namespace

void store_from_int64(DType dtype, void* dst, int64_t index, int64_t value) {
  store_integer(dtype, dst, index, value);
}
void store_from_uint64(DType dtype, void* dst, int64_t index, uint64_t value) {
  store_integer(dtype, dst, index, value);
}

void convert_to_float(DType src_dtype, const void* src, int64_t count, float* dst) {
  if (src_dtype == DType::float16) return halves_to_float_array(src, count, dst);
  load_block(src_dtype, src, 0, count, dst);
}

void convert_from_float(const float* src, int64_t count, DType dst_dtype, void* dst) {
  clear_padding(dst_dtype, count, dst);
  if (dst_dtype == DType::float16) return float_array_to_halves(src, count, dst);
  store_floats(dst_dtype, dst, 0, count, src);
}

void convert(DType src_dtype, const void* src, int64_t count, DType dst_dtype, void* dst) {
  if (count == 0) return;
  if (src_dtype == dst_dtype) {
    std::memcpy(dst, src, static_cast<size_t>(bytes_of(src_dtype, count)));
    return;
  }
  if (dst_dtype == DType::float32) return convert_to_float(src_dtype, src, count, static_cast<float*>(dst));
  if (src_dtype == DType::float32)
    return convert_from_float(static_cast<const float*>(src), count, dst_dtype, dst);
  clear_padding(dst_dtype, count, dst);
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t n = std::min(kBlock, count - first);
    if (is_float(src_dtype)) {
      double block[kBlock];
      load_block(src_dtype, src, first, n, block);
      store_floats(dst_dtype, dst, first, n, block);
    } else if (class_of(src_dtype) == DTypeClass::kUnsigned) {
      uint64_t block[kBlock];
      load_block(src_dtype, src, first, n, block);
      store_integers(dst_dtype, dst, first, n, block);
    } else {
      int64_t block[kBlock];
      load_block(src_dtype, src, first, n, block);
      store_integers(dst_dtype, dst, first, n, block);
    }
  }
}

}  // namespace ge
