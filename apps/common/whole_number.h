// A check of a flag's value for CLI11: a whole number within a range. Entry: whole_number.
#pragma once
#include <charconv>
#include <cstdint>
#include <functional>
#include <string>

namespace ge {

// "" where the text is a whole number of least..most, else what was found and what is allowed (CLI11's own
// range says of "x" that it is out of the range).
inline std::function<std::string(const std::string&)> whole_number(int64_t least, int64_t most) {
  return [least, most](const std::string& text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= least && value <= most
               ? std::string()
               : "found " + text + ", allowed a whole number of " + std::to_string(least) + " to " +
                     std::to_string(most);
  };
}

}  // namespace ge
