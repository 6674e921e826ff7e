// Element types and conversions. The small float types are checked against a search over all their values,
// which shares no code with the encoder.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "catch.h"
#include "numeric/convert.h"

namespace ge {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("Element types have names, widths and numpy names", "[numeric]") {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    CHECK(dtype_from_name(name_of(t)) == t);
  }
  CHECK(name_of(DType::boolean) == "bool");
  CHECK(dtype_from_name("boolean") == std::nullopt);
  CHECK(dtype_from_name("float") == std::nullopt);
  CHECK(npy_descr(DType::float32) == "<f4");
  CHECK(npy_descr(DType::boolean) == "|b1");
  CHECK(npy_descr(DType::bfloat16).empty());
  CHECK(bytes_of(DType::int4, 3) == 2);
  CHECK(bytes_of(DType::float64, 3) == 24);
  CHECK(is_float(DType::float8e5m2));
  CHECK_FALSE(is_integer(DType::boolean));
  const DTypeSet set = {DType::float32, DType::int4};
  CHECK(set.contains(DType::int4));
  CHECK_FALSE(set.contains(DType::uint4));
}

struct Format {
  const char* name;
  int bits;
  std::function<double(uint32_t)> decode;
  std::function<uint32_t(double)> encode;
};

// Every boundary of the format: each value, each midpoint between neighbours, and the doubles beside them.
void check_format(const Format& f) {
  struct Entry {
    double value;
    uint32_t bits;
  };
  std::vector<Entry> values;  // finite, not negative, ascending
  const uint32_t sign = 1u << (f.bits - 1);
  for (uint32_t b = 0; b < sign; ++b) {
    const double v = f.decode(b);
    if (!std::isnan(v)) {
      REQUIRE(f.encode(v) == b);
      REQUIRE(f.encode(-v) == (b | sign));
      REQUIRE(std::signbit(f.decode(b | sign)));
    } else {
      REQUIRE(std::isnan(f.decode(f.encode(v))));
    }
    if (std::isfinite(v)) values.push_back({v, b});
  }
  REQUIRE(std::is_sorted(values.begin(), values.end(),
                         [](const Entry& a, const Entry& b) { return a.value < b.value; }));
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const double low = values[i].value, high = values[i + 1].value;
    const double middle = low + (high - low) / 2;  // exact: double has far more bits
    const uint32_t even = values[i].bits % 2 == 0 ? values[i].bits : values[i + 1].bits;
    REQUIRE(f.encode(middle) == even);
    REQUIRE(f.encode(std::nextafter(middle, -kInf)) == values[i].bits);
    REQUIRE(f.encode(std::nextafter(middle, kInf)) == values[i + 1].bits);
    REQUIRE(f.encode(-middle) == (even | sign));
  }
}

TEST_CASE("Small floats round to nearest even at every boundary", "[numeric]") {
  check_format({"float16", 16, [](uint32_t b) { return double{float16_to_float(static_cast<uint16_t>(b))}; },
                [](double v) { return uint32_t{float16_from_double(v)}; }});
  check_format({"bfloat16", 16,
                [](uint32_t b) { return double{bfloat16_to_float(static_cast<uint16_t>(b))}; },
                [](double v) { return uint32_t{bfloat16_from_double(v)}; }});
  check_format({"float8e4m3fn", 8,
                [](uint32_t b) { return double{float8e4m3fn_to_float(static_cast<uint8_t>(b))}; },
                [](double v) { return uint32_t{float8e4m3fn_from_double(v, false)}; }});
  check_format({"float8e5m2", 8,
                [](uint32_t b) { return double{float8e5m2_to_float(static_cast<uint8_t>(b))}; },
                [](double v) { return uint32_t{float8e5m2_from_double(v, false)}; }});
}

TEST_CASE("Small floats have the values of their specifications", "[numeric]") {
  CHECK(float16_to_float(0x3c00) == 1.0f);
  CHECK(float16_to_float(0x7bff) == 65504.0f);
  CHECK(float16_to_float(0x0001) == std::ldexp(1.0f, -24));
  CHECK(float16_to_float(0x0400) == std::ldexp(1.0f, -14));
  CHECK(float16_to_float(0xfc00) == -INFINITY);
  CHECK(bfloat16_to_float(0x3f80) == 1.0f);
  CHECK(bfloat16_to_float(0x0001) == std::ldexp(1.0f, -133));
  CHECK(float8e4m3fn_to_float(0x7e) == 448.0f);
  CHECK(float8e4m3fn_to_float(0x01) == std::ldexp(1.0f, -9));
  CHECK(std::isnan(float8e4m3fn_to_float(0x7f)));
  CHECK(std::isnan(float8e4m3fn_to_float(0xff)));
  CHECK(float8e5m2_to_float(0x7b) == 57344.0f);
  CHECK(float8e5m2_to_float(0x7c) == INFINITY);
}

TEST_CASE("Overflow goes to infinity from half past the largest value on, or saturates in float8",
          "[numeric]") {
  CHECK(float16_from_double(65519.999) == 0x7bff);
  CHECK(float16_from_double(65520) == 0x7c00);
  CHECK(float16_from_double(-1e300) == 0xfc00);
  CHECK(float8e4m3fn_from_double(1e9) == 0x7e);
  CHECK(float8e4m3fn_from_double(-kInf) == 0xfe);
  CHECK(float8e4m3fn_from_double(464, false) == 0x7e);  // the tie goes to even, 448
  CHECK(float8e4m3fn_from_double(465, false) == 0x7f);
  CHECK(float8e5m2_from_double(kInf) == 0x7b);
  CHECK(float8e5m2_from_double(kInf, false) == 0x7c);
  CHECK(float16_from_double(5e-324) == 0);
  CHECK(float16_from_double(-5e-324) == 0x8000);
}

TEST_CASE("double to a small float rounds once, not by way of float", "[numeric]") {
  // Just above the midpoint of two halves, by less than float can tell.
  const double value = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  CHECK(float16_from_double(value) == 0x3c01);
  CHECK(float16_from_float(static_cast<float>(value)) == 0x3c00);
  uint16_t stored = 0;
  store_from_double(DType::float16, &stored, 0, value);
  CHECK(stored == 0x3c01);
  convert(DType::float64, &value, 1, DType::float16, &stored);
  CHECK(stored == 0x3c01);
  // An integer that double itself cannot hold, just above a bfloat16 midpoint.
  const int64_t integer = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  store_from_int64(DType::bfloat16, &stored, 0, integer);
  CHECK(bfloat16_to_float(stored) == std::ldexp(1.0f, 60) + std::ldexp(1.0f, 53));
  store_from_int64(DType::bfloat16, &stored, 0, integer - 1);
  CHECK(bfloat16_to_float(stored) == std::ldexp(1.0f, 60));
  store_from_int64(DType::bfloat16, &stored, 0, -integer);
  CHECK(bfloat16_to_float(stored) == -(std::ldexp(1.0f, 60) + std::ldexp(1.0f, 53)));
}

TEST_CASE("The fast float bfloat16 path agrees with the general one", "[numeric]") {
  for (uint64_t raw = 0; raw <= UINT32_MAX; raw += 9973) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(raw));
    REQUIRE(bfloat16_from_float(value) == bfloat16_from_double(value));
  }
}

TEST_CASE("Arrays of halves convert as single halves do, with and without vector code", "[numeric]") {
  std::vector<uint16_t> halves(65536), back(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<float> floats(65536);
  convert_to_float(DType::float16, halves.data(), 65536, floats.data());
  convert_from_float(floats.data(), 65536, DType::float16, back.data());
  for (size_t i = 0; i < halves.size(); ++i) {
    const float one = float16_to_float(halves[i]);
    if (std::isnan(one)) {
      REQUIRE(std::isnan(floats[i]));
    } else {
      REQUIRE(std::bit_cast<uint32_t>(floats[i]) == std::bit_cast<uint32_t>(one));
    }
    REQUIRE(back[i] == float16_from_float(floats[i]));
  }
  // 11 elements: eight by vectors, three alone, at an odd address.
  std::vector<float> few;
  for (int i = 0; i < 11; ++i) few.push_back(1.0f + static_cast<float>(i) / 4096);
  std::vector<uint8_t> raw(1 + 22);
  convert_from_float(few.data(), 11, DType::float16, raw.data() + 1);
  for (int i = 0; i < 11; ++i) {
    CHECK(load_as_double(DType::float16, raw.data() + 1, i) ==
          float16_to_float(float16_from_float(few[static_cast<size_t>(i)])));
  }
}

TEST_CASE("Float to integer truncates and saturates, NaN gives 0", "[numeric]") {
  CHECK(saturate_to<int8_t>(127.9) == 127);
  CHECK(saturate_to<int8_t>(128.0) == 127);
  CHECK(saturate_to<int8_t>(-128.9) == -128);
  CHECK(saturate_to<int8_t>(-1.9) == -1);
  CHECK(saturate_to<uint8_t>(-0.5) == 0);
  CHECK(saturate_to<uint8_t>(255.99) == 255);
  CHECK(saturate_to<uint8_t>(256) == 255);
  CHECK(saturate_to<int64_t>(9.3e18) == INT64_MAX);
  CHECK(saturate_to<int64_t>(9223372036854774784.0) == 9223372036854774784);
  CHECK(saturate_to<int64_t>(-kInf) == INT64_MIN);
  CHECK(saturate_to<uint64_t>(18446744073709549568.0) == 18446744073709549568u);
  CHECK(saturate_to<uint64_t>(kInf) == UINT64_MAX);
  CHECK(saturate_to<int32_t>(kNan) == 0);
  const float values[] = {NAN, INFINITY, -INFINITY, 3.99f, -3.99f, 1e20f};
  int32_t out[6];
  convert(DType::float32, values, 6, DType::int32, out);
  CHECK(std::vector<int32_t>(out, out + 6) ==
        std::vector<int32_t>{0, INT32_MAX, INT32_MIN, 3, -3, INT32_MAX});
  uint8_t nibbles[3];
  convert(DType::float32, values, 5, DType::int4, nibbles);
  int8_t unpacked[5];
  unpack_int4(nibbles, 5, unpacked);
  CHECK(std::vector<int>(unpacked, unpacked + 5) == std::vector<int>{0, 7, -8, 3, -3});
  CHECK(nibbles[2] >> 4 == 0);
  uint8_t bools[6];
  convert(DType::float32, values, 6, DType::boolean, bools);
  CHECK(std::vector<int>(bools, bools + 6) == std::vector<int>(6, 1));
}

TEST_CASE("Integer to integer wraps; uint64 travels as its bits", "[numeric]") {
  const int64_t values[] = {300, -1, INT64_MIN, 128};
  int8_t narrow[4];
  convert(DType::int64, values, 4, DType::int8, narrow);
  CHECK(std::vector<int>(narrow, narrow + 4) == std::vector<int>{44, -1, 0, -128});
  uint64_t wide[4];
  convert(DType::int64, values, 4, DType::uint64, wide);
  CHECK(wide[1] == UINT64_MAX);
  CHECK(load_as_int64(DType::uint64, wide, 1) == -1);
  CHECK(load_as_double(DType::uint64, wide, 1) == 18446744073709551616.0);
  float rounded = 0;
  convert(DType::uint64, wide + 1, 1, DType::float32, &rounded);
  CHECK(rounded == 18446744073709551616.0f);
  store_from_uint64(DType::float64, wide, 0, uint64_t{1} << 63);
  CHECK(load_as_double(DType::float64, wide, 0) == 9223372036854775808.0);
  int32_t kept = 0;
  store_from_int64(DType::int32, &kept, 0, (int64_t{1} << 40) + 7);
  CHECK(kept == 7);
  uint8_t flag = 9;
  store_from_int64(DType::boolean, &flag, 0, 256);
  CHECK(flag == 1);
  flag = 7;
  CHECK(load_as_int64(DType::boolean, &flag, 0) == 1);
}

TEST_CASE("4-bit elements share bytes, low nibble first", "[numeric]") {
  uint8_t packed[2] = {0, 0};
  store_nibble(packed, 0, 0x3);
  store_nibble(packed, 1, 0xf);
  store_nibble(packed, 2, 0x8);
  CHECK(packed[0] == 0xf3);
  CHECK(packed[1] == 0x08);
  CHECK(load_int4(packed, 1) == -1);
  CHECK(load_uint4(packed, 1) == 15);
  CHECK(load_int4(packed, 2) == -8);
  const uint8_t values[] = {1, 2, 3};
  pack_nibbles(values, 3, packed);
  CHECK(packed[0] == 0x21);
  CHECK(packed[1] == 0x03);
  store_from_double(DType::uint4, packed, 0, 99.0);
  CHECK(load_as_int64(DType::uint4, packed, 0) == 15);
  CHECK(load_as_int64(DType::uint4, packed, 1) == 2);
}

TEST_CASE("convert agrees with element by element for every pair of types", "[numeric]") {
  const double samples[] = {0,    1,   -1,    2.5,   3.5,    -3.5, 6,     100.25, 127, 200,
                            -129, 1e4, 65504, 70000, -70000, 1e10, -1e19, 0.1,    1e-8};
  constexpr int64_t kCount = 1033;  // over two blocks, odd
  for (int s = 0; s < kDTypeCount; ++s) {
    const auto from = static_cast<DType>(s);
    std::vector<uint8_t> source(static_cast<size_t>(bytes_of(from, kCount)), 0);
    for (int64_t i = 0; i < kCount; ++i)
      store_from_double(from, source.data(), i, samples[i % static_cast<int64_t>(std::size(samples))]);
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto to = static_cast<DType>(d);
      std::vector<uint8_t> bulk(static_cast<size_t>(bytes_of(to, kCount)), 0xaa), single(bulk.size(), 0);
      convert(from, source.data(), kCount, to, bulk.data());
      for (int64_t i = 0; i < kCount; ++i) {
        if (is_float(from)) {
          store_from_double(to, single.data(), i, load_as_double(from, source.data(), i));
        } else if (from == DType::uint64) {
          store_from_uint64(to, single.data(), i,
                            static_cast<uint64_t>(load_as_int64(from, source.data(), i)));
        } else {
          store_from_int64(to, single.data(), i, load_as_int64(from, source.data(), i));
        }
      }
      INFO(name_of(from) << " -> " << name_of(to));
      REQUIRE(bulk == single);
    }
  }
}

}  // namespace
}  // namespace ge
