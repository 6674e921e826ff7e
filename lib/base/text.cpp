// Control characters as escapes, numbers with their nouns, ranges and lists.
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/diagnostic.h"

namespace ge {
namespace {

// The bytes of the control character that `text` begins with: those of ASCII, and C1 in UTF-8; 0 where it
// begins with none.
size_t control_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  return byte(0) == 0xc2 && text.size() > 1 && byte(1) >= 0x80 && byte(1) < 0xa0 ? 2 : 0;
}

std::string escaped(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(c));
  return escape;
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t controls = kept.find(text[0]) == kept.npos ? control_length(text) : 0;
    if (controls == 0) out += text[0];
    for (size_t i = 0; i < controls; ++i) out += escaped(text[i]);
    text.remove_prefix(std::max<size_t>(controls, 1));
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) {
  return without_controls(text, "\n\t");
}

std::string visible_line(std::string_view text) {
  return without_controls(text, "");
}

std::string quoted_line(std::string_view text) {
  return "\"" + visible_line(text) + "\"";
}

std::string counted(int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

namespace {
template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  char digits[40];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}
}  // namespace

std::string double_text(double value) {
  return shortest(value);
}
std::string float_text(float value) {
  return shortest(value);
}

std::string range_text(int64_t min, int64_t max) {
  if (min == max) return std::to_string(min);
  if (max == INT64_MAX) return min == INT64_MIN ? "any" : std::to_string(min) + " and up";
  return min == INT64_MIN ? "up to " + std::to_string(max)
                          : std::to_string(min) + " .. " + std::to_string(max);
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += between;
    text += parts[i];
  }
  return text;
}

}  // namespace ge
