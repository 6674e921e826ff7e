// Small pieces of text for people. Entry: visible_line, quoted_line, counted, double_text, range_text,
// joined. For text of several lines there is visible, in diagnostic.h.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ge {

// The text with its control characters as escapes, line ends and tabs too: for names, which come from files,
// and for what is one line. What goes to a terminal neither moves its cursor nor looks like a line of ge's
// own.
std::string visible_line(std::string_view text);

std::string quoted_line(std::string_view text);  // "\"x\"", control characters as escapes

std::string counted(int64_t count, std::string_view one, std::string_view many);  // "1 launch", "2 launches"

// The fewest digits that read back to the same number:
std::string double_text(double value);  // "0.5", "3.0", "1e+30", "-inf", "nan": never the text of an integer
std::string float_text(float value);    // the same of a float: "0.1"

// From min to max, inclusive: "1 .. 64", "3", "0 and up", "up to 5"; int64's ends are none.
std::string range_text(int64_t min, int64_t max);

std::string joined(const std::vector<std::string>& parts, std::string_view between);

}  // namespace ge
