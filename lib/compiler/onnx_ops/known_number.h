// The numbers that scalars and short tensors have, where they follow from constants by plain arithmetic:
// limits of Range, flags, scales of Resize. Entry: known_number, known_numbers.
#pragma once
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace ge {

// The one element of `value` as a double; nullopt where it is not known, or has more elements.
std::optional<double> known_number(const Graph& graph, ValueId value);

// The elements, at most 64 and row-major, of what scalar ops, casts, joins and views make of constants and of
// known sizes. Rounded as a run would.
std::optional<std::vector<double>> known_numbers(const Graph& graph, ValueId value);

}  // namespace ge
