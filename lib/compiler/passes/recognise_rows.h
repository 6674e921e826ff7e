// What patterns over rows share: reductions, and a value minus its row's maximum or mean.
#pragma once
#include <string_view>

#include "compiler/passes/pattern.h"

namespace ge {

inline bool is_reduction(const Node& node, std::string_view kind, const std::vector<int64_t>& axes) {
  return node.op == Op::reduce && attr_string(node, "kind") == kind && attr_ints(node, "axes") == axes;
}

// What a mean's sum is multiplied by: 1 for a mean, 1 / n for a sum over n elements; 0 for all else.
inline double mean_factor(const Graph& graph, const Node& reduction) {
  const std::string kind = attr_string(reduction, "kind");
  if (kind == "mean") return 1;
  if (kind != "sum") return 0;
  double count = 1;
  for (const int64_t axis : attr_ints(reduction, "axes")) {
    const auto extent = graph.type(reduction.operands[0]).dims[static_cast<size_t>(axis)].value();
    if (!extent || *extent == 0) return 0;
    count *= static_cast<double>(*extent);
  }
  return 1 / count;
}

struct CentredRow {
  ValueId x = kNone, row = kNone;  // row: the reduction's result
  std::vector<int64_t> axes;
};

// v = x - reduction of x over axes, put back along them. kind: "max", or "mean" (a sum over n divided by n
// too).
inline std::optional<CentredRow> centred_row(const Pattern& p, ValueId v, std::string_view kind) {
  const Node* sub = p.producer(v, Op::sub);
  const Node* reduction = sub == nullptr ? nullptr : p.reduction_behind(sub->operands[1]);
  if (reduction == nullptr || reduction->operands[0] != sub->operands[0]) return std::nullopt;
  const double factor = kind == "mean" ? mean_factor(p.graph(), *reduction)
                                       : static_cast<double>(attr_string(*reduction, "kind") == kind);
  if (factor == 0) return std::nullopt;
  CentredRow centred{sub->operands[0], reduction->results[0], attr_ints(*reduction, "axes")};
  std::vector<Leaf> leaves{{centred.x, {}}, {centred.row, {}}};
  const auto sum = p.sum_of(v, leaves);
  const bool fits = sum && p.same(*sum, {{1, {1}}, {-factor, {0, 1}}}) && p.is_whole(leaves[0], v) &&
                    p.is_row(leaves[1], v, centred.axes);
  return fits ? std::optional(centred) : std::nullopt;
}

}  // namespace ge
