#include "contract/xxh3.h"

#include <array>
#include <bit>

namespace ge {
namespace {

constexpr uint32_t kPrime32[] = {0x9E3779B1u, 0x85EBCA77u, 0xC2B2AE3Du};
constexpr uint64_t kPrime64[] = {0x9E3779B185EBCA87u, 0xC2B2AE3D27D4EB4Fu, 0x165667B19E3779F9u,
                                 0x85EBCA77C2B2AE63u, 0x27D4EB2F165667C5u};
constexpr size_t kStripe = 64;  // bytes that one round takes
constexpr size_t kSecretMin =
    136;  // the specification's smallest secret; inputs of 129 to 240 bytes end on it
constexpr size_t kSecretBytes = 192;
constexpr size_t kStripesPerBlock = (kSecretBytes - kStripe) / 8;
// clang-format off
constexpr unsigned char kSecret[kSecretBytes] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};
// clang-format on

using Bytes = const unsigned char*;
using Accumulators = std::array<uint64_t, 8>;

uint32_t read32(Bytes at) {
  return load_as<uint32_t>(reinterpret_cast<const std::byte*>(at));
}
uint64_t read64(Bytes at) {
  return load_as<uint64_t>(reinterpret_cast<const std::byte*>(at));
}
uint64_t keys(size_t a, size_t b) {
  return read64(kSecret + a) ^ read64(kSecret + b);
}
uint64_t keys32(size_t a, size_t b) {
  return read32(kSecret + a) ^ read32(kSecret + b);
}

uint64_t swap_bytes(uint64_t x) {
  return __builtin_bswap64(x);
}
Hash128 multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64)};
}
uint64_t fold(uint64_t a, uint64_t b) {
  const Hash128 product = multiply(a, b);
  return product.low ^ product.high;
}

uint64_t avalanche(uint64_t h) {
  h = (h ^ (h >> 37)) * 0x165667919E3779F9u;
  return h ^ (h >> 32);
}
uint64_t avalanche_xxh64(uint64_t h) {
  h = (h ^ (h >> 33)) * kPrime64[1];
  h = (h ^ (h >> 29)) * kPrime64[2];
  return h ^ (h >> 32);
}

uint64_t mix16(Bytes input, Bytes secret) {
  return fold(read64(input) ^ read64(secret), read64(input + 8) ^ read64(secret + 8));
}
void mix32(Hash128& acc, Bytes a, Bytes b, Bytes secret) {
  acc.low = (acc.low + mix16(a, secret)) ^ (read64(b) + read64(b + 8));
  acc.high = (acc.high + mix16(b, secret + 16)) ^ (read64(a) + read64(a + 8));
}

// ---- 0 to 16 bytes ----
uint32_t first_middle_last(Bytes input, size_t size) {  // of 1 to 3 bytes
  return static_cast<uint32_t>(input[0]) << 16 | static_cast<uint32_t>(input[size >> 1]) << 24 |
         input[size - 1] | static_cast<uint32_t>(size) << 8;
}

uint64_t short_64(Bytes input, size_t size) {
  if (size == 0) return avalanche_xxh64(keys(56, 64));
  if (size <= 3) return avalanche_xxh64(first_middle_last(input, size) ^ keys32(0, 4));
  if (size <= 8) {
    const uint64_t low = read32(input + size - 4), high = read32(input);
    uint64_t h = (low + (high << 32)) ^ keys(8, 16);
    h ^= std::rotl(h, 49) ^ std::rotl(h, 24);
    h *= 0x9FB21C651E98DF25u;
    h ^= (h >> 35) + size;
    h *= 0x9FB21C651E98DF25u;
    return h ^ (h >> 28);
  }
  const uint64_t low = read64(input) ^ keys(24, 32), high = read64(input + size - 8) ^ keys(40, 48);
  return avalanche(size + swap_bytes(low) + high + fold(low, high));
}

Hash128 short_128(Bytes input, size_t size) {
  if (size == 0) return {avalanche_xxh64(keys(64, 72)), avalanche_xxh64(keys(80, 88))};
  if (size <= 3) {
    const uint32_t low = first_middle_last(input, size), high = std::rotl(__builtin_bswap32(low), 13);
    return {avalanche_xxh64(low ^ keys32(0, 4)), avalanche_xxh64(high ^ keys32(8, 12))};
  }
  if (size <= 8) {
    const uint64_t low = read32(input), high = read32(input + size - 4);
    Hash128 h = multiply((low + (high << 32)) ^ keys(16, 24), kPrime64[0] + (size << 2));
    h.high += h.low << 1;
    h.low ^= h.high >> 3;
    h.low = (h.low ^ (h.low >> 35)) * 0x9FB21C651E98DF25u;
    return {h.low ^ (h.low >> 28), avalanche(h.high)};
  }
  const uint64_t low = read64(input), last = read64(input + size - 8);
  Hash128 m = multiply(low ^ last ^ keys(32, 40), kPrime64[0]);
  m.low += static_cast<uint64_t>(size - 1) << 54;
  const uint64_t high = last ^ keys(48, 56);
  m.high += high + (high & 0xFFFFFFFFu) * (kPrime32[1] - 1);
  m.low ^= swap_bytes(m.high);
  Hash128 h = multiply(m.low, kPrime64[1]);
  h.high += m.high * kPrime64[1];
  return {avalanche(h.low), avalanche(h.high)};
}

// ---- 17 to 240 bytes ----
uint64_t middle_64(Bytes input, size_t size) {
  uint64_t acc = size * kPrime64[0];
  if (size <= 128) {
    for (size_t i = (size - 1) / 32 + 1; i-- > 0;)
      acc +=
          mix16(input + 16 * i, kSecret + 32 * i) + mix16(input + size - 16 * (i + 1), kSecret + 32 * i + 16);
    return avalanche(acc);
  }
  for (size_t i = 0; i < 8; ++i) acc += mix16(input + 16 * i, kSecret + 16 * i);
  acc = avalanche(acc);
  for (size_t i = 8; i < size / 16; ++i) acc += mix16(input + 16 * i, kSecret + 16 * (i - 8) + 3);
  return avalanche(acc + mix16(input + size - 16, kSecret + kSecretMin - 17));
}

// The specification negates the seed for the last 32 bytes; with seed 0 that is no change.
Hash128 middle_128(Bytes input, size_t size) {
  Hash128 acc{size * kPrime64[0], 0};
  if (size <= 128) {
    for (size_t i = (size - 1) / 32 + 1; i-- > 0;)
      mix32(acc, input + 16 * i, input + size - 16 * (i + 1), kSecret + 32 * i);
  } else {
    for (size_t i = 0; i < 4; ++i) mix32(acc, input + 32 * i, input + 32 * i + 16, kSecret + 32 * i);
    acc = {avalanche(acc.low), avalanche(acc.high)};
    for (size_t i = 4; i < size / 32; ++i)
      mix32(acc, input + 32 * i, input + 32 * i + 16, kSecret + 3 + 32 * (i - 4));
    mix32(acc, input + size - 16, input + size - 32, kSecret + kSecretMin - 33);
  }
  const uint64_t high = acc.low * kPrime64[0] + acc.high * kPrime64[3] + size * kPrime64[1];
  return {avalanche(acc.low + acc.high), 0 - avalanche(high)};
}

// ---- more than 240 bytes ----
void round(Accumulators& acc, Bytes input, Bytes secret) {
  for (size_t i = 0; i < acc.size(); ++i) {
    const uint64_t data = read64(input + 8 * i), keyed = data ^ read64(secret + 8 * i);
    acc[i ^ 1] += data;
    acc[i] += (keyed & 0xFFFFFFFFu) * (keyed >> 32);
  }
}
void rounds(Accumulators& acc, Bytes input, size_t stripes) {
  for (size_t i = 0; i < stripes; ++i) round(acc, input + i * kStripe, kSecret + 8 * i);
}
void scramble(Accumulators& acc) {
  for (size_t i = 0; i < acc.size(); ++i) {
    acc[i] ^= acc[i] >> 47;
    acc[i] = (acc[i] ^ read64(kSecret + kSecretBytes - kStripe + 8 * i)) * kPrime32[0];
  }
}

Accumulators accumulate(Bytes input, size_t size) {
  Accumulators acc{kPrime32[2], kPrime64[0], kPrime64[1], kPrime64[2],
                   kPrime64[3], kPrime32[1], kPrime64[4], kPrime32[0]};
  constexpr size_t kBlock = kStripesPerBlock * kStripe;
  const size_t blocks = (size - 1) / kBlock;
  for (size_t i = 0; i < blocks; ++i) {
    rounds(acc, input + i * kBlock, kStripesPerBlock);
    scramble(acc);
  }
  rounds(acc, input + blocks * kBlock, (size - 1 - blocks * kBlock) / kStripe);
  round(acc, input + size - kStripe, kSecret + kSecretBytes - kStripe - 7);
  return acc;
}

uint64_t merge(const Accumulators& acc, Bytes secret, uint64_t start) {
  for (size_t i = 0; i < 4; ++i)
    start += fold(acc[2 * i] ^ read64(secret + 16 * i), acc[2 * i + 1] ^ read64(secret + 16 * i + 8));
  return avalanche(start);
}

}  // namespace

uint64_t xxh3_64(ByteSpan bytes) {
  const Bytes input = reinterpret_cast<Bytes>(bytes.data());
  const size_t size = bytes.size();
  if (size <= 16) return short_64(input, size);
  if (size <= 240) return middle_64(input, size);
  return merge(accumulate(input, size), kSecret + 11, size * kPrime64[0]);
}

Hash128 xxh3_128(ByteSpan bytes) {
  const Bytes input = reinterpret_cast<Bytes>(bytes.data());
  const size_t size = bytes.size();
  if (size <= 16) return short_128(input, size);
  if (size <= 240) return middle_128(input, size);
  const Accumulators acc = accumulate(input, size);
  return {merge(acc, kSecret + 11, size * kPrime64[0]),
          merge(acc, kSecret + kSecretBytes - kStripe - 11, ~(size * kPrime64[1]))};
}

}  // namespace ge
