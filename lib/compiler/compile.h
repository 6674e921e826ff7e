// The compiler's facade: a graph in, a plan out. Entry: compile, then Compiled::write.
// Same graph and options give the same bytes on every machine.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/pack/plan_assembler.h"
#include "compiler/pack/plan_check.h"
#include "compiler/passes/manager.h"

namespace ge {

struct CompileOptions {
  std::vector<std::string> targets{"cpu"};  // names of targets.def; "native" is resolved before
  int level = 2;                            // -O
  bool exact = false;                       // --exact
  std::vector<std::string> allow;           // --allow
  PassOptions passes;  // only, disabled, printing, checking; level and exact are taken from above
  bool explain = false;
  bool keep_ptx = false;
  bool cuda_source = false;  // collect generated CUDA text
};
struct CompileSummary {
  struct PerTarget {
    std::string target;
    size_t launches = 0, kernels = 0;
    int64_t scratch_bytes = 0;
  };  // scratch at the symbols' opt values
  std::vector<PerTarget> targets;
  int64_t weight_bytes = 0;
};
struct Compiled {
  std::shared_ptr<PlanAssembler> assembler;  // holds the plan and the bytes it refers to
  CompileSummary summary;
  std::string explanation;  // --explain
  std::string cuda_source;
  std::vector<std::string> notes;  // lossy rewrites taken, refusals
  // Errors: internal where the plan does not pass the checks that ge-run makes; nothing is written then.
  Status write(const PlanSink& sink) {
    return write_plan(assembler->plan, assembler->bytes(), sink, check_plan);
  }
};
// Runs passes and stages for every target. The graph may hold ONNX operators or core ops.
Result<Compiled> compile(Graph graph, const CompileOptions& options);
// The passes alone, up to where targets part: what --emit ir shows.
Result<Graph> optimise(Graph graph, const CompileOptions& options, std::string_view target);

}  // namespace ge
