// Steps over JSON text that the scan has accepted, and decodes its tokens. Private to lib/document. Offsets
// are bytes from the text's start.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ge::json_text {

// Past white space and comments.
size_t skip_space(std::string_view text, size_t at);
// One past the closing quote of the string that starts at `at`.
size_t string_end(std::string_view text, size_t at);
// One past the number or literal that starts at `at`.
size_t scalar_end(std::string_view text, size_t at);
// Appends the string that starts at `at`, its escapes decoded: all, or the first bytes, `most` or a few more.
void append_decoded(std::string& out, std::string_view text, size_t at, size_t most);
// A number's token as a double, rounded once; nullopt where it is past the largest.
std::optional<double> double_of(std::string_view token);

inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// The value of a hex digit; -1 for others.
inline int hex_digit(char c) {
  return is_digit(c)            ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

}  // namespace ge::json_text
