// Base64, strict: one text for each byte string.
#include "document/base64.h"

#include <array>

namespace ge {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> make_values() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr std::array<int8_t, 256> kValues = make_values();

}  // namespace

std::string base64_encode(ByteSpan bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= n ? kAlphabet[(group >> (18 - 6 * k)) & 63] : '=';
  }
  return text;
}

std::optional<ByteBuffer> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  ByteBuffer bytes = ByteBuffer::allocate(text.size() / 4 * 3 - padding);
  if (!bytes.data()) return std::nullopt;
  size_t out = 0;
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t n = i + 4 == text.size() ? 4 - padding : 4;  // characters that carry bits
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int value = k < n ? kValues[static_cast<uint8_t>(text[i + k])] : 0;
      if (value < 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    if (n < 4 && (group & ((1u << (8 * (4 - n))) - 1)) != 0) return std::nullopt;
    for (size_t k = 0; k + 1 < n; ++k) bytes.data()[out++] = static_cast<std::byte>(group >> (16 - 8 * k));
  }
  return bytes;
}

}  // namespace ge
