// Indices that are known when a graph is compiled, held against the dims they point into. Entry:
// find_bad_index. Invariant: what is told is out of range for every value of the dims.
#pragma once
#include <optional>
#include <string>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

struct BadIndex {
  int64_t part = 0;      // which of the extents it breaks
  std::string value;     // "7", or an expression of dims
  std::string position;  // "[0, 1]", of the element among the indices
};

// Of the integers in `indices` (a constant, or known contents), the first outside -extent .. extent - 1 under
// the graph's ranges; element i has extents[i % size]. nullopt where there is none, or they are not known.
// Errors: those of reading a weights file.
Result<std::optional<BadIndex>> find_bad_index(const Graph& graph, ValueId indices, const Dims& extents);

}  // namespace ge
