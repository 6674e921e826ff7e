#include "compiler/compile.h"

#include <algorithm>

#include "compiler/ir/feasible_sizes.h"
#include "compiler/pack/pack_program.h"
#include "compiler/select/cost.h"
#include "compiler/select/selection.h"
#include "ge_version.h"

namespace ge {
namespace {

Result<std::vector<const Target*>> resolve_targets(const std::vector<std::string>& names) {
  std::vector<const Target*> targets;
  ErrorList errors;
  for (const std::string& name : names) {
    const Target* target = find_target(name);
    if (target != nullptr) {
      if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
      continue;
    }
    std::vector<std::string> known{"native"};
    for (const Target& t : all_targets()) known.emplace_back(t.name);
    const std::string near = nearest(name, known);
    errors.add(fail(Code::unknown_target)
                   .say("unknown target \"" + name + "\"")
                   .try_(near.empty() ? "see --list-targets" : "did you mean " + near + "?"));
  }
  GE_TRY(errors.take());
  return targets;
}

// The part of the pipeline before or after the targets part, as --passes would name it. An explicit --passes
// list is kept.
PassOptions stage_options(const CompileOptions& options, bool per_target) {
  PassOptions o = options.passes;
  o.level = options.level;
  o.exact = options.exact || options.level == 1;
  const std::vector<std::string> asked = o.only;
  o.only.clear();
  const auto wanted = [&](std::string_view name) {
    return asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
  };
  for (const PassInfo& pass : all_passes()) {
    if (pass.per_target != per_target || !wanted(pass.name)) o.disabled.emplace_back(pass.name);
  }
  for (const std::string& name : asked)  // the manager refuses, by name, what is no pass
    if (std::none_of(all_passes().begin(), all_passes().end(),
                     [&](const PassInfo& pass) { return pass.name == name; }))
      o.disabled.push_back(name);
  return o;
}

PassContext make_context(const CompileOptions& options, const Evaluator& evaluator) {
  PassContext context;
  context.evaluate = &evaluator;
  context.exact = options.exact || options.level <= 1;
  context.allow = options.allow;
  return context;
}

int64_t arena_bytes(const Graph& graph, const Program& program) {
  std::vector<int64_t> values;
  for (const Symbol& s : program.symbols) {
    const auto it = graph.symbols.find(s.name);
    values.push_back(it == graph.symbols.end() ? s.opt : it->second.opt);
  }
  int64_t total = 0;
  for (const Slot& slot : program.slots) {
    const auto size = program.exprs.evaluate(slot.size_bytes, values);
    if (size.ok() && *size > 0) total += align_up(*size, kBufferAlignment);
  }
  return total;
}

Status compile_for(const Target& target, Graph graph, const CompileOptions& options,
                   const Evaluator& evaluator, Compiled& out) {
  PassContext context = make_context(options, evaluator);
  context.for_cuda = target.device() == KernelDevice::kCuda;
  GE_TRY(run_passes(graph, stage_options(options, true), context));
  out.notes.insert(out.notes.end(), context.notes.begin(), context.notes.end());
  const ValueViews views(graph);
  GE_ASSIGN(const Selection selection,
            select(graph, views, target, {.reference = options.level == 0, .exact = context.exact}));
  if (options.explain) out.explanation += explain(graph, selection, target);
  PackOptions pack{.exact = context.exact,
                   .ptx = options.keep_ptx,
                   .cuda_source = options.cuda_source ? &out.cuda_source : nullptr};
  GE_ASSIGN(Program program, pack_program(graph, views, selection, target, pack, *out.assembler));
  CompileSummary::PerTarget summary{std::string(target.name)};
  std::vector<uint32_t> kernels;
  for (const Step& step : program.run.steps) {
    if (step.kind != StepKind::kLaunch) continue;
    ++summary.launches;
    for (const Choice& c : step.launch[0].choices) kernels.push_back(c.kernel);
  }
  std::sort(kernels.begin(), kernels.end());
  summary.kernels = static_cast<size_t>(std::unique(kernels.begin(), kernels.end()) - kernels.begin());
  summary.scratch_bytes = arena_bytes(graph, program);
  out.summary.targets.push_back(std::move(summary));
  out.assembler->plan.programs.push_back(std::move(program));
  return {};
}

}  // namespace

Result<Graph> optimise(Graph graph, const CompileOptions& options, std::string_view target) {
  const Evaluator evaluator = reference_evaluator();
  PassContext context = make_context(options, evaluator);
  GE_TRY(run_passes(graph, stage_options(options, false), context));
  GE_ASSIGN(const auto targets, resolve_targets({std::string(target)}));
  context.for_cuda = targets[0]->device() == KernelDevice::kCuda;
  GE_TRY(run_passes(graph, stage_options(options, true), context));
  return graph;
}

Result<Compiled> compile(Graph graph, const CompileOptions& options) {
  GE_ASSIGN(const auto targets, resolve_targets(options.targets));
  const Evaluator evaluator = reference_evaluator();
  Compiled out;
  out.assembler = std::make_shared<PlanAssembler>();
  out.assembler->plan.model_name = graph.name;
  out.assembler->plan.made_by = std::string("ge ") + GE_VERSION;
  PassContext context = make_context(options, evaluator);
  GE_TRY(run_passes(graph, stage_options(options, false), context));
  out.notes = graph.notes;
  out.notes.insert(out.notes.end(), context.notes.begin(), context.notes.end());
  const std::vector<std::string> moved = settle_optimal_sizes(graph);
  out.notes.insert(out.notes.end(), moved.begin(), moved.end());
  for (const Target* target : targets) GE_TRY(compile_for(*target, graph.clone(), options, evaluator, out));
  for (const Blob& blob : out.assembler->plan.blobs) {
    int64_t count = 1;
    for (const int64_t d : blob.dims) count *= d;
    out.summary.weight_bytes += bytes_of(blob.dtype, count);
  }
  return out;
}

}  // namespace ge
