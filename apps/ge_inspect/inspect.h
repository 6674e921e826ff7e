// What ge-inspect does with a plan. Entry: show, verify, diff. Each prints its product on standard output and
// gives the exit code.
#pragma once
#include <string>

namespace ge {

int show(const std::string& path, bool json);
int verify(const std::string& path);
// 4 where the plans differ.
int diff(const std::string& path_a, const std::string& path_b);

}  // namespace ge
