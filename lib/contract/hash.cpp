// The one place that includes xxHash, where its header is there; xxh3.cpp answers the same without it.
#include "contract/hash.h"

#include "contract/xxh3.h"

#if GE_HAVE_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

namespace ge {
namespace {

#if GE_HAVE_XXHASH
Hash128 hash128(ByteSpan bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}
#else
Hash128 hash128(ByteSpan bytes) {
  return xxh3_128(bytes);
}
#endif

}  // namespace

uint64_t hash64(ByteSpan bytes) {
#if GE_HAVE_XXHASH
  return XXH3_64bits(bytes.data(), bytes.size());
#else
  return xxh3_64(bytes);
#endif
}

std::string hash128_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const Hash128 hash = hash128(bytes);
  std::string text;
  for (const uint64_t half : {hash.high, hash.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  }
  return text;
}

}  // namespace ge
