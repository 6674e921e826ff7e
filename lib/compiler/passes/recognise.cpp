// recognise: finds what exporters write out, and makes it one op.
//   before   %e = erf(%x / 1.41421354); %y = %x * 0.5 * (%e + 1)          (any order, any of patterns.def)
//   after    %y = gelu(%x)
// Precondition: constants are folded; the dtype is float64, float32, float16 or bfloat16; every inner value
// has no other user and is no output; constants are the formula's within a few ulp of the dtype; broadcasts
// lie along the reduced axes. A variance as E[x^2] - E[x]^2 is another number than mean((x - E[x])^2) where
// they cancel, and stays. Gain: epilogues take an activation that is one op; float16 chains round once; a
// later kernel for a whole softmax or norm sees one. Cost: none. Class: rounding. Here: after folding and
// merging, which leave one form of each constant; before scales and epilogues, which take what this makes.
#include <cstddef>

#include "compiler/passes/passes.h"
#include "compiler/passes/pattern.h"
#include "compiler/passes/rewrite.h"

namespace ge {
namespace {

struct PatternRow {
  Op anchor;
  bool (*match)(Pattern&);
};
constexpr PatternRow kPatterns[] = {
#define GE_PATTERN(name, anchor, ...) {Op::anchor, match_##name},
#include "compiler/passes/patterns.def"
#undef GE_PATTERN
};

bool is_readable(const Graph& graph, const Node& node) {
  if (node.op == Op::onnx || node.results.size() != 1 || graph.use_count(node.results[0]) == 0) return false;
  switch (graph.type(node.results[0]).dtype) {
    case DType::float64:
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
      return true;
    default:
      return false;
  }
}

bool once(Graph& graph) {
  bool changed = false;
  for (const NodeId id : graph.order()) {
    for (const PatternRow& row : kPatterns) {
      if (!graph.node(id).alive || graph.node(id).op != row.anchor || !is_readable(graph, graph.node(id)))
        continue;
      Pattern pattern(graph, id);
      if (!row.match(pattern)) continue;
      changed = true;
      break;
    }
  }
  if (changed) remove_dead_nodes(graph);
  return changed;
}

}  // namespace

Status recognise(Graph& graph, PassContext& context) {
  if (context.exact) return {};
  constexpr int kRounds = 4;  // min(max()) becomes clamp, that a hard sigmoid, that a hard swish
  for (int i = 0; i < kRounds && once(graph); ++i) {
  }
  return {};
}

}  // namespace ge
