// XXH3 written out after its specification (xxHash 0.8, doc/xxhash_spec.md; seed 0, default secret), for
// machines without the xxHash header. Entry: xxh3_64, xxh3_128. Invariant: the values of the library, byte
// for byte; a checksum written by one build is read by every other. About a third of the library's speed.
#pragma once
#include <cstdint>

#include "base/bytes.h"

namespace ge {

struct Hash128 {
  uint64_t low, high;
  bool operator==(const Hash128&) const = default;
};
uint64_t xxh3_64(ByteSpan bytes);
Hash128 xxh3_128(ByteSpan bytes);

}  // namespace ge
