// The number a scalar has, where it follows from constants by plain arithmetic: limits of Range, flags.
// Entry: known_number.
#pragma once
#include <optional>

#include "compiler/ir/graph.h"

namespace ge {

// The one element of `value` as a double; nullopt where it is not known, or has more elements.
std::optional<double> known_number(const Graph& graph, ValueId value);

}  // namespace ge
