// --version of every tool. Entry: version_text.
#pragma once
#include <string>
#include <string_view>

namespace ge {

// "ge-run 0.1.0 (commit)\n" and a line per library that the tool was built with.
std::string version_text(std::string_view tool);

}  // namespace ge
