// Captured values of subgraphs; see captures.h.
#include "compiler/source/captures.h"

#include <algorithm>

namespace ge {

void append_captures(Graph& graph, NodeId node, const std::vector<CapturingBody>& subgraphs,
                     const std::function<ValueId(const std::string&)>& outer) {
  std::vector<std::string> all;
  for (const CapturingBody& s : subgraphs) all.insert(all.end(), s.captures.begin(), s.captures.end());
  std::sort(all.begin(), all.end());  // whatever the order of attributes
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const CapturingBody& s : subgraphs) {
    const auto formal_end = s.body->inputs.end() - static_cast<int64_t>(s.captures.size());
    std::vector<ValueId> formal(s.body->inputs.begin(), formal_end);
    const std::vector<ValueId> captured(formal_end, s.body->inputs.end());
    for (const std::string& name : all) {
      const auto at = std::find(s.captures.begin(), s.captures.end(), name);
      formal.push_back(at != s.captures.end() ? captured[static_cast<size_t>(at - s.captures.begin())]
                                              : s.body->add_input(name, Type{}));
    }
    s.body->inputs = std::move(formal);
  }
  if (!all.empty()) graph.node(node).attrs[kCapturesAttr] = all;
  for (const std::string& name : all) {
    const auto operand = static_cast<uint32_t>(graph.node(node).operands.size());
    graph.node(node).operands.push_back(kNone);
    const ValueId value = outer(name);
    if (value != kNone) graph.set_operand(node, operand, value);
  }
}

}  // namespace ge
