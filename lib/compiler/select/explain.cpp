// --explain: each node with the kernel it got, its cost, and for every other candidate why not. Entry:
// explain (selection.h).

#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "base/text.h"
#include "compiler/select/selection.h"

namespace ge {
namespace {

std::string label(const Graph& graph, NodeId id) {
  if (id == kNone) return "(copy to output)";
  const Node& node = graph.node(id);
  std::string text;
  for (const Source& s : node.sources)
    text += (text.empty() ? "" : " + ") + (s.name.empty() ? s.path : s.name);
  if (text.empty()) text = std::string(name_of(node.op));
  text = visible_line(text);
  return text.size() > 48 ? text.substr(0, 45) + "..." : text;
}

// With as many digits as tell the two apart.
std::string costs_more(double cost, double chosen) {
  for (int digits = 1; digits < 10; ++digits) {
    const std::string more = fmt::format("{:.{}f}", cost, digits),
                      less = fmt::format("{:.{}f}", chosen, digits);
    if (more != less) return "costs more: " + more + " against " + less;
  }
  return "costs the same";
}

}  // namespace

std::string explain(const Graph& graph, const Selection& selection, const Target& target) {
  std::string out = fmt::format("target {}\n {:<48} {:<34} {:>9}  {}\n", target.name, "node", "kernel",
                                "cost us", "others");
  for (const NodeSelection& n : selection.nodes) {
    double chosen_cost = 0;
    bool first = true;
    for (const Candidate& c : n.candidates) {
      if (c.chosen) chosen_cost = c.cost_us;
      const std::string why = c.chosen             ? ""
                              : !c.refused.empty() ? "refused: " + c.refused
                                                   : costs_more(c.cost_us, chosen_cost);
      const std::string cost = c.refused.empty() ? fmt::format("{:.1f}", c.cost_us) : "-";
      out += fmt::format(" {:<48} {}{:<33} {:>9}  {}\n", first ? label(graph, n.node) : "",
                         c.chosen ? "*" : " ", c.kernel, cost, visible_line(why));
      first = false;
    }
  }
  return out;
}

}  // namespace ge
