// Core ops by their definitions, a second answer beside the product's reference kernels: plain loops over
// indices, reals in long double rounded once at the end, integers exact and cut at the end. Entry:
// second_answer.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "ops/formulas.h"
#include "tensor_file/host_tensor.h"

namespace ge::test {

// The elements of a tensor: `real` for float types, `whole` for the others. `terms`, of sums and products of
// reals: for each element the sum of its terms' sizes, sum |a b|, which is what its rounding errors grow
// with.
struct Numbers {
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  std::vector<long double> real;
  std::vector<Whole> whole;
  std::vector<long double> terms;
  int64_t count() const;
};

// The outputs of a graph of core ops of static shapes, for these inputs.
std::vector<Numbers> second_answer(const Graph& graph, const std::vector<HostTensor>& inputs);

}  // namespace ge::test
