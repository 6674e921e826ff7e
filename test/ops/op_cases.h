// Graphs that exercise every core op in every dtype. Entry: op_graphs. Each graph holds many small cases of
// one op and dtype: sizes 0, 1 and odd, operands seen through transposes, broadcasts and reversed slices,
// special values where they are defined.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tensor_file/host_tensor.h"

namespace ge::test {

struct OpGraph {
  std::string op;                         // row of the table
  DType dtype = DType::float32;           // column
  Graph graph;                            // every output is one case
  std::vector<HostTensor> inputs;         // as graph.inputs
  double rtol = 0, atol = 0;              // between a result and the second source's
  bool of_terms = false;                  // atol is a share of sum |a b|
  double shown_rtol = 0, shown_atol = 0;  // the row's: those of float32
};
// Every core op in every dtype of the table. Seeded: the same on every machine.
std::vector<OpGraph> op_graphs();
std::vector<DType> table_dtypes();

}  // namespace ge::test
