// Dims and inputs of a case, made from the graph alone: its name is the seed, so a graph.json says everything
// and a smaller graph keeps the data of the inputs that are left. Entry: case_dims, case_inputs.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tensor_file/host_tensor.h"

namespace ge::test {

using Symbols = std::map<std::string, int64_t>;

struct IndexRange {  // an input that serves as indices: low <= value < high
  int64_t low = 0, high = 0;
};

// Values of every symbol of the graph: the declared optimum first, then the least and others. One set (empty)
// where there are none. Sets that break an assertion of `lowered` come only where no other was found.
std::vector<Symbols> case_dims(const Graph& graph, const Graph& lowered);
// nullopt where a dim is negative or has no value, or the input is too large.
std::optional<std::vector<HostTensor>> case_inputs(const Graph& graph, const Symbols& symbols,
                                                   const std::map<std::string, IndexRange>& indices);

std::optional<std::vector<int64_t>> evaluate_dims(const Dims& dims, const Symbols& symbols);

}  // namespace ge::test
