#include "document/json_text.h"

#include <algorithm>
#include <charconv>

namespace ge::json_text {

size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (is_space(text[at])) {
      ++at;
    } else if (text[at] == '/') {
      const bool block = text[at + 1] == '*';
      const size_t end = block ? text.find("*/", at + 2) : text.find_first_of("\r\n", at);
      at = end == std::string_view::npos ? text.size() : end + (block ? 2 : 0);
    } else {
      break;
    }
  }
  return at;
}

size_t string_end(std::string_view text, size_t at) {
  for (++at; text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
  return at + 1;
}

size_t scalar_end(std::string_view text, size_t at) {
  const auto inside = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '+' || c == 'E';
  };
  while (at < text.size() && inside(text[at])) ++at;
  return at;
}

namespace {

uint32_t hex4(std::string_view text, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 4 | static_cast<uint32_t>(hex_digit(text[at + i]));
  return value;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

void append_decoded(std::string& out, std::string_view text, size_t at, size_t most) {
  const size_t end = string_end(text, at) - 1;
  most = std::min(most, end - at - 1);
  out.reserve(out.size() + most);
  const size_t full = out.size() + most;
  for (++at; at < end && out.size() < full;) {
    const size_t room = at + std::min(full - out.size(), end - at);
    const size_t plain = std::min(text.substr(0, end).find('\\', at), room);
    out.append(text.substr(at, plain - at));
    at = plain;
    if (at == end || text[at] != '\\') continue;
    const char escape = text[at + 1];
    at += 2;
    if (escape != 'u') {
      static constexpr std::string_view kFrom = "bfnrt", kTo = "\b\f\n\r\t";
      const size_t known = kFrom.find(escape);
      out += known == std::string_view::npos ? escape : kTo[known];
      continue;
    }
    uint32_t code = hex4(text, at);
    at += 4;
    if (code >= 0xd800 && code < 0xdc00) {  // the other half of a pair follows
      code = 0x10000 + ((code - 0xd800) << 10) + (hex4(text, at + 2) - 0xdc00);
      at += 6;
    }
    append_utf8(out, code);
  }
}

std::optional<double> double_of(std::string_view token) {
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc()) return value;
  // Too large, or so small that it is 0: by the exponent of its first digit that is not 0.
  const bool negative = token.starts_with('-');
  const size_t e = std::min(token.find_first_of("eE"), token.size());
  const std::string_view digits = token.substr(negative ? 1 : 0, e - (negative ? 1 : 0));
  const size_t point = std::min(digits.find('.'), digits.size()), first = digits.find_first_of("123456789");
  int64_t exponent = 0;
  if (first == std::string_view::npos) return negative ? -0.0 : 0.0;
  if (e < token.size()) {
    const std::string_view text = token.substr(e + (token[e + 1] == '+' ? 2 : 1));
    const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
    constexpr int64_t kFar = int64_t{1} << 40;  // more than any text has digits
    if (read.ec != std::errc()) exponent = text[0] == '-' ? -kFar : kFar;
    exponent = std::clamp(exponent, -kFar, kFar);
  }
  exponent += static_cast<int64_t>(point) - static_cast<int64_t>(first);
  if (exponent > 0) return std::nullopt;
  return negative ? -0.0 : 0.0;
}

}  // namespace ge::json_text
