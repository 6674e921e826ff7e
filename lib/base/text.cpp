// Control characters as escapes, and numbers with their nouns.
#include "base/text.h"

#include <algorithm>
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

std::string counted(int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace ge
