// Heads of CBOR items (RFC 8949, 3): the initial byte and its argument. Private to lib/document.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ge::cbor {

enum Major : uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };
inline constexpr uint8_t kIndefinite = 31;  // info of a container of any length; of the break that ends it
inline constexpr char kBreak = '\xff';

struct Head {
  Major major = kUnsigned;
  uint8_t info = 0;
  uint64_t argument = 0;
  size_t size = 1;  // bytes of the head itself
};

// Of bytes that are known to hold it.
inline Head head_at(std::string_view bytes, size_t at) {
  const auto initial = static_cast<uint8_t>(bytes[at]);
  Head head{static_cast<Major>(initial >> 5), static_cast<uint8_t>(initial & 31),
            static_cast<uint64_t>(initial & 31), 1};
  if (head.info < 24 || head.info == kIndefinite) return head;
  head.size += size_t{1} << (head.info - 24);
  head.argument = 0;
  for (size_t i = 1; i < head.size; ++i)
    head.argument = head.argument << 8 | static_cast<uint8_t>(bytes[at + i]);
  return head;
}

inline void append_head(std::string& out, Major major, uint64_t argument) {
  int bytes = 0;
  auto info = static_cast<uint8_t>(argument);
  if (argument >= 24) {
    const int power = argument <= 0xff ? 0 : argument <= 0xffff ? 1 : argument <= 0xffffffff ? 2 : 3;
    info = static_cast<uint8_t>(24 + power);
    bytes = 1 << power;
  }
  out += static_cast<char>(major << 5 | info);
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(argument >> (8 * i));
}

}  // namespace ge::cbor
