// From a fused loop's body to a LoopProgram and the views of its operands. Entry: build_loop_nest.
// Works backwards from the output: each value is asked for under a map from the domain to its axes, so
// transposes, broadcasts, slices and unit reshapes cost nothing; reductions share one set of row axes. What
// does not fit comes back as an Error whose message is the reason --explain prints.
#pragma once
#include <vector>

#include "base/status.h"
#include "compiler/codegen/operand_view.h"
#include "compiler/ir/graph.h"
#include "contract/bytecode.h"
#include "contract/kernel_desc.h"
#include "contract/tensor_view.h"

namespace ge {

struct LoopNest {
  LoopProgram program;
  Dims domain;  // outer axes, then row axes
  struct Binding {
    bool output = false;
    uint32_t index = 0;  // of the fused node's operands or results
    AxisMaps axes;       // of that value under the domain
  };
  std::vector<Binding> operands;  // as program.operands
  // Results of float16 and bfloat16 ops are kept in float32 between load and store unless asked otherwise.
  double operations_per_element = 0;  // weighted: transcendental ops count 8
};

inline constexpr size_t kMaxFusedOperands = 24;  // to load
// To load and to store: as many whole views as the greatest argument struct of a kernel holds.
inline constexpr size_t kMaxFusedViews = kMaxArgsSize / sizeof(TensorView);
static_assert(kMaxFusedViews == 28);

// `round_each_op`: round to the value's own dtype after every op (--exact); integers always wrap to theirs.
Result<LoopNest> build_loop_nest(const Graph& body, bool round_each_op);

// Replaces softmax, log_softmax and normalize by maps and reductions in float32 (float64 for float64).
Status expand_composites(Graph& graph);
bool is_composite(Op op);

}  // namespace ge
