// The pass manager: runs passes.def in order and gives every pass, for nothing: printing, disabling, timing,
// verification with the guilty pass named, and checking against the reference. Entry: run_passes.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/evaluate.h"
#include "compiler/ir/graph.h"

namespace ge {

enum class RewriteClass : uint8_t { kExact, kRounding, kLossy };
struct PassContext {
  const Evaluator* evaluate = nullptr;  // never null in a run
  bool exact = false;                   // --exact or -O1: only rewrites that keep every bit
  bool for_cuda = false;           // which target's copy of the graph; for passes after GE_PASSES_OF_A_TARGET
  std::vector<std::string> allow;  // "tf32", "fast-math", "fp16-accumulate"
  size_t nest_nodes =
      0;  // nodes in all loops that fuse_elementwise has tried: what its time is a multiple of
  std::vector<std::string> notes;  // what a pass wants told (lossy rewrites taken, refusals)
};
struct PassInfo {
  std::string_view name;
  int level;  // runs at -O >= level
  RewriteClass rewrite_class;
  std::string_view summary;
  Status (*run)(Graph&, PassContext&);
  bool per_target = false;  // runs on each target's own copy of the graph
};
std::span<const PassInfo> all_passes();  // in order of running

struct PassOptions {
  int level = 2;
  bool exact = false;
  std::vector<std::string> only;      // --passes A,B: just these, in this order
  std::vector<std::string> disabled;  // --disable-pass
  std::string print_after;            // "" none, a pass's name, or "all"
  bool check = false;                 // --check-passes
  bool verify = true;
  std::function<void(std::string_view)> print;  // receives printed IR and the time table
  bool time = false;
};
// Runs the passes on the graph. unknown_pass, verify_failed and pass_changed_result name the pass.
Status run_passes(Graph& graph, const PassOptions& options, PassContext& context);
// The same with another table of passes: how the harness itself is tested.
Status run_passes(Graph& graph, std::span<const PassInfo> table, const PassOptions& options,
                  PassContext& context);

}  // namespace ge
