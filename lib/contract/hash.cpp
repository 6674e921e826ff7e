// The one place that includes xxHash.
#include "contract/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ge {

uint64_t hash64(ByteSpan bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string hash128_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  std::string text;
  for (const uint64_t half : {hash.high64, hash.low64}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  }
  return text;
}

}  // namespace ge
