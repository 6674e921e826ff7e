// Captured values of subgraphs; see captures.h.
#include "compiler/source/captures.h"

#include <algorithm>
#include <string_view>

#include "base/name_map.h"
#include "compiler/source/unfolding.h"

namespace ge {

void append_captures(Graph& graph, NodeId node, const std::vector<CapturingBody>& subgraphs,
                     const std::function<ValueId(const std::string&)>& outer,
                     const std::function<bool(uint64_t)>& pay) {
  std::vector<std::string> all;
  for (const CapturingBody& s : subgraphs) all.insert(all.end(), s.captures.begin(), s.captures.end());
  std::sort(all.begin(), all.end());  // whatever the order of attributes
  all.erase(std::unique(all.begin(), all.end()), all.end());
  uint64_t bytes = 0;
  for (const std::string& name : all) bytes += unfolded::kCapture + 2 * name.size();
  if (subgraphs.size() > 1 && !pay(bytes * subgraphs.size())) return;
  for (const CapturingBody& s : subgraphs) {
    const auto formal_end = s.body->inputs.end() - static_cast<int64_t>(s.captures.size());
    std::vector<ValueId> formal(s.body->inputs.begin(), formal_end);
    const std::vector<ValueId> captured(formal_end, s.body->inputs.end());
    NameMap<std::string_view, ValueId> own;
    for (size_t i = 0; i < captured.size(); ++i) own.emplace(s.captures[i], captured[i]);
    for (const std::string& name : all) {
      const auto at = own.find(name);
      formal.push_back(at != own.end() ? at->second : s.body->add_input(name, Type{}));
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
