// --check-passes: is what a pass left equal to what it was given? Both graphs run on the reference evaluator,
// on generated inputs, at several sizes. Entry: PassChecker::before, PassChecker::after. Golden tests use
// compare_graphs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/passes/manager.h"

namespace ge {

using SymbolValues = std::map<std::string, int64_t>;

// Symbol values to try: every least, every opt, an odd one each; those that break an assertion or a shape, or
// make a tensor of more than 2^24 elements, are left out. {} alone for a graph without symbols.
std::vector<SymbolValues> sizes_to_try(const Graph& graph);
// Seeded values for the inputs: floats in [-2, 2), small integers 0 and 1 (they may be indices), bools.
Result<std::vector<HostTensor>> random_inputs(const Graph& graph, const SymbolValues& symbols, uint64_t seed);
// "" where the tensors agree: bit for bit (any NaN equals any NaN), or within the element type's tolerance.
std::string difference_of(const HostTensor& expected, const HostTensor& found, bool same_bits);
// pass_changed_result where the outputs of the two differ at some size.
Status compare_graphs(const Graph& expected, const Graph& found, const Evaluator& evaluate, bool same_bits);

class PassChecker {
 public:
  explicit PassChecker(const Evaluator* evaluate) : evaluate_(evaluate) {}
  Status before(const Graph& graph, PassContext& context);
  // pass_changed_result, naming the pass, the output, the element and the sizes.
  Status after(const Graph& graph, const PassInfo& pass, PassContext& context);

 private:
  struct Sample {
    SymbolValues symbols;
    std::vector<HostTensor> inputs, outputs;
  };
  const Evaluator* evaluate_;
  std::vector<Sample> samples_;  // of the graph as it stands; what one pass leaves is what the next is given
  bool ready_ = false;
};

}  // namespace ge
