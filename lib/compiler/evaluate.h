// Running core graphs through ge.h on the reference kernels: constant folding, pass checks, reference
// answers. Entry: Evaluator. The implementation compiles the graph at -O0 for cpu in memory and runs it as
// any user would.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "tensor_file/host_tensor.h"

namespace ge {

// Values of the graph's outputs for these inputs (in order) under these symbols. Same bits on every machine.
using Evaluator =
    std::function<Result<std::vector<HostTensor>>(const Graph& graph, const std::vector<HostTensor>& inputs,
                                                  const std::map<std::string, int64_t>& symbols)>;
Evaluator reference_evaluator();

}  // namespace ge
