// Which nodes of the model a step came from, for messages and profiles. Entry: source_nodes, join_nodes.
#pragma once
#include <string>
#include <vector>

#include "contract/plan.h"

namespace ge {

const std::vector<std::string>& source_nodes(const Step& step);  // empty for If and Loop
std::string join_nodes(const std::vector<std::string>& nodes);   // "fc1 + act"

}  // namespace ge
