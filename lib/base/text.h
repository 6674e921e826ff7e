// Small pieces of text for people. Entry: visible_line, counted. For text of several lines there is visible,
// in diagnostic.h.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ge {

// The text with its control characters as escapes, line ends and tabs too: for names, which come from files,
// and for what is one line. What goes to a terminal neither moves its cursor nor looks like a line of ge's
// own.
std::string visible_line(std::string_view text);

std::string counted(int64_t count, std::string_view one, std::string_view many);  // "1 launch", "2 launches"

}  // namespace ge
