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

std::string why_not(const Candidate& c, const Candidate& chosen) {
  if (!c.refused.empty()) return "refused: " + c.refused;
  if (chosen.preferred_over == c.kernel) return chosen.kernel + " is preferred";
  const bool listed_later = chosen.preferred_over.empty();  // in --list-kernels
  return c.cost_us == chosen.cost_us && listed_later ? "costs the same, is listed later"
                                                     : costs_more(c.cost_us, chosen.cost_us);
}

}  // namespace

std::string explain(const Graph& graph, const Selection& selection, const Target& target) {
  std::string out = fmt::format("target {}\n {:<48} {:<34} {:>9}  {}\n", target.name, "node", "kernel",
                                "cost us", "others");
  for (const NodeSelection& n : selection.nodes) {
    const Candidate* chosen = nullptr;
    bool first = true;
    for (const Candidate& c : n.candidates) {
      if (c.chosen || chosen == nullptr) chosen = &c;  // those of each launch begin with the chosen one
      const std::string why = c.chosen ? "" : why_not(c, *chosen);
      const std::string cost = c.refused.empty() ? fmt::format("{:.1f}", c.cost_us) : "-";
      out += fmt::format(" {:<48} {}{:<33} {:>9}  {}\n", first ? label(graph, n.node) : "",
                         c.chosen ? "*" : " ", c.kernel, cost, visible_line(why));
      first = false;
    }
    for (const LaunchSpec& launch : n.launches)
      for (const LaunchSpec& few : launch.few_rows)
        out += fmt::format(" {:<48} *{:<33} {:>9}  up to {} {}\n", "", few.row->name, "-", few.most_rows,
                           few.most_rows == 1 ? "row" : "rows");
  }
  return out;
}

}  // namespace ge
