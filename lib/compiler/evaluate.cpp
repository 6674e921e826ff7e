#include "compiler/evaluate.h"

#include "compiler/pack/pack_program.h"
#include "compiler/run_plan.h"
#include "compiler/select/selection.h"

namespace ge {
namespace {

Result<std::vector<std::byte>> reference_plan(const Graph& graph) {
  PlanAssembler assembler;
  assembler.plan.model_name = "reference";
  assembler.plan.made_by = "ge";
  const Target& cpu = *find_target("cpu");
  const ValueViews views(graph);
  GE_ASSIGN(const Selection selection, select(graph, views, cpu, {.reference = true}));
  GE_ASSIGN(Program program, pack_program(graph, views, selection, cpu, {}, assembler));
  assembler.plan.programs.push_back(std::move(program));
  return write_plan_bytes(assembler.plan, assembler.bytes());
}

Result<std::vector<HostTensor>> evaluate(const Graph& original, const std::vector<HostTensor>& inputs,
                                         const std::map<std::string, int64_t>& symbols) {
  Graph graph = original.clone();
  for (const auto& [name, value] : symbols) graph.symbols[name] = {value, value, value};
  GE_ASSIGN(const std::vector<std::byte> bytes, reference_plan(graph));
  return run_plan(bytes, inputs);
}

}  // namespace

Evaluator reference_evaluator() {
  return evaluate;
}

}  // namespace ge
