// The pass manager; see manager.h. Checking against the reference is in check_pass.cpp.
#include "compiler/passes/manager.h"

#include <algorithm>
#include <cstdio>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/check_pass.h"
#include "compiler/passes/passes.h"
#include "platform/clock.h"

namespace ge {

namespace {
// Places of the rows; the mark has the place of the row after it.
enum Place : int {
#define GE_PASS(name, level, rewrite_class, summary) kPlaceOf_##name,
#define GE_PASSES_OF_A_TARGET kFirstOfATarget, kLastOfAll = kFirstOfATarget - 1,
#include "compiler/passes/passes.def"
#undef GE_PASS
#undef GE_PASSES_OF_A_TARGET
};
constexpr PassInfo kPasses[] = {
#define GE_PASS(name, level, rewrite_class, summary) \
  {#name, level, RewriteClass::rewrite_class, summary, name, kPlaceOf_##name >= kFirstOfATarget},
#define GE_PASSES_OF_A_TARGET
#include "compiler/passes/passes.def"
#undef GE_PASS
#undef GE_PASSES_OF_A_TARGET
};

const PassInfo* find_pass(std::span<const PassInfo> table, std::string_view name) {
  const auto it = std::find_if(table.begin(), table.end(), [&](const PassInfo& p) { return p.name == name; });
  return it == table.end() ? nullptr : &*it;
}

void require_pass(std::span<const PassInfo> table, std::string_view name, ErrorList& errors) {
  if (find_pass(table, name) != nullptr) return;
  std::vector<std::string> names;
  for (const PassInfo& pass : table) names.emplace_back(pass.name);
  const std::string close = nearest(name, names);
  errors.add(fail(Code::unknown_pass)
                 .because("found \"" + std::string(name) + "\"")
                 .try_(close.empty() ? "--list-passes names them" : "did you mean " + close + "?"));
}

Result<std::vector<const PassInfo*>> chosen_passes(std::span<const PassInfo> table,
                                                   const PassOptions& options) {
  ErrorList errors;
  for (const std::string& name : options.only) require_pass(table, name, errors);
  for (const std::string& name : options.disabled) require_pass(table, name, errors);
  if (!options.print_after.empty() && options.print_after != "all")
    require_pass(table, options.print_after, errors);
  GE_TRY(errors.take());
  std::vector<const PassInfo*> chosen;
  const auto take = [&](const PassInfo& pass) {
    if (std::find(options.disabled.begin(), options.disabled.end(), pass.name) == options.disabled.end())
      chosen.push_back(&pass);
  };
  for (const std::string& name : options.only) take(*find_pass(table, name));
  if (!options.only.empty()) return chosen;
  for (const PassInfo& pass : table)
    if (pass.level <= options.level) take(pass);
  return chosen;
}

bool has_onnx(const Graph& graph) {
  for (NodeId id = 0; id < graph.node_capacity(); ++id)
    if (graph.node(id).alive && graph.node(id).op == Op::onnx) return true;
  return false;
}

struct Timing {
  std::string_view pass;
  int64_t time_ns;
  size_t nodes_before, nodes_after;
};

std::string time_table(const std::vector<Timing>& timings) {
  std::string table = " pass                               ms    nodes\n";
  char line[128];
  for (const Timing& t : timings) {
    std::snprintf(line, sizeof line, " %-32s %7.2f  %6zu -> %zu\n", std::string(t.pass).c_str(),
                  static_cast<double>(t.time_ns) / 1e6, t.nodes_before, t.nodes_after);
    table += line;
  }
  return table;
}

class Run {
 public:
  Run(Graph& graph, const PassOptions& options, PassContext& context)
      : graph_(graph),
        options_(options),
        context_(context),
        checker_(options.check ? context.evaluate : nullptr) {}

  Status run(const std::vector<const PassInfo*>& passes) {
    if (options_.verify) GE_TRY(verified("before the first pass", !has_onnx(graph_)));
    for (const PassInfo* pass : passes) GE_TRY(one(*pass));
    graph_.compact();
    if (options_.time && options_.print) options_.print(time_table(timings_));
    return {};
  }

 private:
  Status one(const PassInfo& pass) {
    const bool core_only = pass.name == "canonicalize" || !has_onnx(graph_);
    if (options_.check) GE_TRY(checker_.before(graph_, context_));
    if (options_.print_after == pass.name) show("before", pass);
    const size_t nodes = graph_.live_nodes();
    const int64_t start = monotonic_ns();
    Status status = pass.run(graph_, context_);
    timings_.push_back({pass.name, monotonic_ns() - start, nodes, graph_.live_nodes()});
    const std::string where = "in pass " + std::string(pass.name);
    if (!status.ok()) {
      Error error = std::move(status).take_error();
      // What is wrong with the model needs no word about passes; what is wrong with a pass does.
      return error.kind() == ErrorKind::kBug ? Status(std::move(error).with_frame(where))
                                             : Status(std::move(error));
    }
    if (options_.print_after == pass.name || options_.print_after == "all") show("after", pass);
    if (options_.verify) GE_TRY(verified(where, core_only));
    if (options_.check) GE_TRY(checker_.after(graph_, pass, context_));
    return {};
  }

  Status verified(const std::string& where, bool core_only) {
    Status status = verify(graph_, core_only);
    if (status.ok()) return status;
    return std::move(status).take_error().with_frame(where);
  }

  void show(std::string_view when, const PassInfo& pass) {
    if (options_.print)
      options_.print("// " + std::string(when) + " " + std::string(pass.name) + "\n" + print(graph_));
  }

  Graph& graph_;
  const PassOptions& options_;
  PassContext& context_;
  PassChecker checker_;
  std::vector<Timing> timings_;
};
}  // namespace

std::span<const PassInfo> all_passes() {
  return kPasses;
}

Status run_passes(Graph& graph, const PassOptions& options, PassContext& context) {
  return run_passes(graph, kPasses, options, context);
}

Status run_passes(Graph& graph, std::span<const PassInfo> table, const PassOptions& options,
                  PassContext& context) {
  GE_ASSIGN(const std::vector<const PassInfo*> passes, chosen_passes(table, options));
  context.exact = context.exact || options.exact || options.level <= 1;
  return Run(graph, options, context).run(passes);
}

}  // namespace ge
