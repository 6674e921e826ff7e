// 4-bit integers, two to a byte, low nibble first. Entry: load_int4, load_uint4, store_nibble, pack, unpack.
#pragma once
#include <cstdint>

namespace ge {

constexpr uint8_t load_uint4(const uint8_t* packed, int64_t index) {
  return static_cast<uint8_t>((packed[index / 2] >> ((index % 2) * 4)) & 0xf);
}
constexpr int8_t load_int4(const uint8_t* packed, int64_t index) {  // -8 .. 7
  return static_cast<int8_t>((load_uint4(packed, index) ^ 8) - 8);
}
// Stores the low four bits of `value`; the other element of the byte is kept (so two threads must not share a
// byte).
constexpr void store_nibble(uint8_t* packed, int64_t index, uint8_t value) {
  const int shift = static_cast<int>(index % 2) * 4;
  packed[index / 2] = static_cast<uint8_t>((packed[index / 2] & (0xf0 >> shift)) | ((value & 0xf) << shift));
}
// `count` values to (count + 1) / 2 bytes; an odd count leaves the last high nibble 0.
constexpr void pack_nibbles(const uint8_t* values, int64_t count, uint8_t* packed) {
  for (int64_t i = 0; i < count; i += 2) {
    const uint8_t high = i + 1 < count ? values[i + 1] : 0;
    packed[i / 2] = static_cast<uint8_t>((values[i] & 0xf) | ((high & 0xf) << 4));
  }
}
constexpr void unpack_int4(const uint8_t* packed, int64_t count, int8_t* values) {
  for (int64_t i = 0; i < count; ++i) values[i] = load_int4(packed, i);
}
constexpr void unpack_uint4(const uint8_t* packed, int64_t count, uint8_t* values) {
  for (int64_t i = 0; i < count; ++i) values[i] = load_uint4(packed, i);
}

}  // namespace ge
