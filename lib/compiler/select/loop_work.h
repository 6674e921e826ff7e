// Work that a generated loop does. Entry: loop_work, copy_work.
#pragma once
#include <vector>

#include "compiler/select/candidates.h"

namespace ge {

// A loop over the body, its operands resolved; merges axes that all operands walk as one.
Result<Work> loop_work(const Graph& graph, const ValueViews& views, const Graph& body,
                       const std::vector<ValueId>& operands, const std::vector<ValueId>& results, bool exact);
// One tensor's elements into another's memory: a loop where those are preferred, else the family copy.
Result<Work> copy_work(const Graph& graph, LaunchOperand from, LaunchOperand to, std::vector<Source> sources,
                       bool prefer_loops);

}  // namespace ge
