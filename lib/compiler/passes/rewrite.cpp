// Shared steps of rewrites; see rewrite.h.
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <cstring>

#include "numeric/convert.h"

namespace ge {

void merge_sources(std::vector<Source>& into, const std::vector<Source>& more) {
  constexpr size_t kMaxSources = 256;  // thousands of equal nodes that became one are not all named
  for (const Source& s : more)
    if (into.size() < kMaxSources && std::find(into.begin(), into.end(), s) == into.end()) into.push_back(s);
}

std::optional<NodeId> only_user(const Graph& graph, ValueId v) {
  const auto& uses = graph.uses(v);
  return uses.size() == 1 && uses[0].node != kNone ? std::optional(uses[0].node) : std::nullopt;
}

bool replace_value(Graph& graph, ValueId from, ValueId to) {
  if (from == to || !(graph.type(from) == graph.type(to))) return false;
  const NodeId old_producer = graph.value(from).producer, producer = graph.value(to).producer;
  // A value that many things come from (an input, a constant) does not collect the sources of all of them.
  if (old_producer != kNone && producer != kNone && graph.node(producer).op != Op::constant) {
    merge_sources(graph.node(producer).sources, graph.node(old_producer).sources);
  }
  graph.replace_all_uses(from, to);
  return true;
}

void remove_dead_nodes(Graph& graph) {
  const std::vector<NodeId> order = graph.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const auto& results = graph.node(*it).results;
    if (std::all_of(results.begin(), results.end(), [&](ValueId v) { return graph.use_count(v) == 0; }))
      graph.remove_node(*it);
  }
}

const TensorData* uniform_constant(const Graph& graph, ValueId v) {
  while (v != kNone) {
    const Node* node = graph.producer(v);
    if (node == nullptr) return nullptr;
    if (node->op == Op::constant) {
      const bool one = node->data->splat || (node->data->count() == 1 && node->data->load == nullptr);
      return one ? node->data.get() : nullptr;
    }
    if (node->op != Op::broadcast && node->op != Op::reshape && node->op != Op::transpose) return nullptr;
    v = node->operands[0];
  }
  return nullptr;
}

bool is_uniform(const Graph& graph, ValueId v, double value) {
  const TensorData* data = uniform_constant(graph, v);
  if (data == nullptr || data->bytes == nullptr || bits_of(data->dtype) < 8) return false;
  std::byte wanted[8] = {};
  store_from_double(data->dtype, wanted, 0, value);
  return std::memcmp(wanted, data->bytes->data(), static_cast<size_t>(bits_of(data->dtype)) / 8) == 0;
}

}  // namespace ge
