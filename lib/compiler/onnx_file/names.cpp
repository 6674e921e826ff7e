#include "compiler/onnx_file/names.h"

#include "document/utf8.h"

namespace ge::onnx_wire {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Length of the printable sequence at the front; 0 where the first byte must be escaped.
size_t clean_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x20 || lead == 0x7f) return 0;
  const bool c1_control = lead == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0;
  const bool escape =
      text.size() > 3 && text[0] == '\\' && text[1] == 'x' && is_hex(text[2]) && is_hex(text[3]);
  return c1_control || escape ? 0 : utf8_length(text);
}

}  // namespace

std::string printable(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    size_t length = clean_length(text);
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string NameTable::unique(const std::string& name) {
  if (take(name)) return name;
  int& last = last_.try_emplace(name, 1).first->second;
  while (true) {
    std::string next = name + "#" + std::to_string(++last);
    if (take(next)) return next;
  }
}

}  // namespace ge::onnx_wire
