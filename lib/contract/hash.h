// XXH3 of bytes: 64 bits for checksums, 128 bits as the identity of contents. Entry: hash64, hash128_hex.
// Invariant: the same on every machine. It finds damage and equal contents; it is no protection against
// forgery.
#pragma once
#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace ge {

uint64_t hash64(ByteSpan bytes);
std::string hash128_hex(ByteSpan bytes);  // 32 lower-case hex digits, high half first

}  // namespace ge
