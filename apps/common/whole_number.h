// Whole numbers in a flag's value. Entry: to_integer, whole_number.
#pragma once
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ge {

// The number that the whole text is; nullopt where it is none, or none of 64 bits.
inline std::optional<int64_t> to_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A check for CLI11: "" where the text is a whole number of least..most, else what was found and what is
// allowed (CLI11's own range says of "x" that it is out of the range).
inline std::function<std::string(const std::string&)> whole_number(int64_t least, int64_t most) {
  return [least, most](const std::string& text) {
    const auto value = to_integer(text);
    return value && *value >= least && *value <= most
               ? std::string()
               : "found " + text + ", allowed a whole number of " + std::to_string(least) + " to " +
                     std::to_string(most);
  };
}

}  // namespace ge
