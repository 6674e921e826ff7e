// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing past U+10FFFF. Entry: valid_utf8,
// utf8_sequence.
#pragma once
#include <cstdint>
#include <string_view>

namespace ge {

struct Utf8Sequence {
  size_t size;  // bytes; of an ill-formed one those before the byte that is wrong, or missing
  bool well_formed;
};
// The sequence at the front of `text` (not empty).
constexpr Utf8Sequence utf8_sequence(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {0, false};
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (size_t i = 1; i < size; ++i) {
    const auto byte = i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
    if (byte < low || byte > high) return {i, false};
    low = 0x80, high = 0xbf;
  }
  return {size, true};
}

// Its length; 0 where it is ill-formed.
constexpr size_t utf8_length(std::string_view text) {
  const Utf8Sequence sequence = utf8_sequence(text);
  return sequence.well_formed ? sequence.size : 0;
}

constexpr bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace ge
