// Golden files, run: parse, verify, passes, verify, print; then both graphs on the reference. Or: parse, all
// passes, select.
#include "golden_run.h"

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/passes/check_pass.h"
#include "compiler/passes/manager.h"
#include "compiler/select/selection.h"

namespace ge::golden {

namespace {
bool has_onnx(const Graph& g) {
  const auto order = g.order();
  return std::any_of(order.begin(), order.end(), [&](NodeId id) { return g.node(id).op == Op::onnx; });
}

bool keeps_bits(const std::vector<std::string>& passes) {
  return std::all_of(passes.begin(), passes.end(), [](const std::string& name) {
    const auto all = all_passes();
    const auto it = std::find_if(all.begin(), all.end(), [&](const PassInfo& p) { return p.name == name; });
    return it != all.end() && it->rewrite_class == RewriteClass::kExact;
  });
}

Outcome failed(const Error& error) {
  Outcome outcome;
  outcome.found = error.to_string() + "\n";
  return outcome;
}

Result<std::string> kernels_of(const Graph& before, const std::string& target) {
  GE_ASSIGN(const Graph graph, optimise(before.clone(), {}, target));  // which refuses an unknown target
  const ValueViews views(graph);
  GE_ASSIGN(const Selection selection, select(graph, views, *find_target(target), {}));
  std::string text;
  for (const NodeSelection& node : selection.nodes) {
    text += node.node == kNone ? "copy to output:" : std::string(name_of(graph.node(node.node).op)) + ":";
    for (const Candidate& c : node.candidates)
      if (c.chosen) text += " " + c.kernel;
    for (const LaunchSpec& launch : node.launches)
      for (const LaunchSpec& few : launch.few_rows)
        text += ", " + std::string(few.row->name) + " to " + std::to_string(few.most_rows) + " rows";
    text += "\n";
  }
  return text;
}
}  // namespace

Outcome run_golden(const GoldenCase& file, const Evaluator& evaluate) {
  auto parsed = parse_ir(file.before, "before");
  if (!parsed.ok()) return failed(parsed.error());
  Graph graph = std::move(parsed).value();
  if (const Status status = verify(graph, !has_onnx(graph)); !status.ok()) return failed(status.error());
  if (!file.kernels.empty()) {
    auto kernels = kernels_of(graph, file.kernels);
    return kernels.ok() ? Outcome{std::move(kernels).value(), "", false, false} : failed(kernels.error());
  }
  Graph before = graph.clone();
  const bool exact = std::find(file.options.begin(), file.options.end(), "exact") != file.options.end();
  PassContext context;
  context.evaluate = &evaluate;
  context.for_cuda = std::find(file.options.begin(), file.options.end(), "cuda") != file.options.end();
  PassOptions options;
  options.only = file.passes;
  options.exact = exact;
  if (!file.passes.empty()) {
    const Status status = run_passes(graph, options, context);
    if (!status.ok()) return failed(status.error());
  }
  Outcome outcome;
  outcome.found = print(graph);
  outcome.changed = outcome.found != print(before);
  if (file.passes.empty()) return outcome;
  Status lowered = has_onnx(before) ? lower_onnx(before) : Status();
  if (!lowered.ok()) return failed(lowered.error());
  if (sizes_to_try(before).empty()) {
    outcome.fault = "no sizes to compare at";
    return outcome;
  }
  const Status same = compare_graphs(before, graph, evaluate, exact || keeps_bits(file.passes));
  if (!same.ok()) outcome.fault = same.error().to_string();
  outcome.compared = same.ok();
  return outcome;
}

}  // namespace ge::golden
