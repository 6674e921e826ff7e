// Cycles among nodes, found by peeling off every node that is on none.
#include <algorithm>
#include <set>

#include "compiler/source/body_reader.h"

namespace ge {
namespace {

std::vector<NodeId> sources_of(const Graph& graph, NodeId id) {
  std::vector<NodeId> list;
  for (const ValueId v : graph.node(id).operands) {
    if (v != kNone && graph.value(v).producer != kNone) list.push_back(graph.value(v).producer);
  }
  return list;
}

std::vector<NodeId> targets_of(const Graph& graph, NodeId id) {
  std::vector<NodeId> list;
  for (const ValueId v : graph.node(id).results) {
    for (const Graph::Use& use : graph.uses(v)) {
      if (use.node != kNone) list.push_back(use.node);
    }
  }
  return list;
}

// Removes, again and again, the nodes of `left` that read nothing in it, or (backward) that nothing in it
// reads.
template <class Before, class After>
void peel(std::set<NodeId>& left, Before before, After after) {
  std::map<NodeId, size_t> waiting;
  std::vector<NodeId> ready;
  for (const NodeId id : left) {
    const auto list = before(id);
    const auto count = static_cast<size_t>(
        std::count_if(list.begin(), list.end(), [&](NodeId n) { return left.contains(n); }));
    waiting[id] = count;
    if (count == 0) ready.push_back(id);
  }
  while (!ready.empty()) {
    const NodeId id = ready.back();
    ready.pop_back();
    left.erase(id);
    for (const NodeId next : after(id)) {
      if (left.contains(next) && --waiting[next] == 0) ready.push_back(next);
    }
  }
}

// Walks from the first node of `left` against the edges until a node comes again. Every node of `left` reads
// one in it.
std::vector<NodeId> one_cycle(const Graph& graph, const std::set<NodeId>& left) {
  std::vector<NodeId> walk;
  std::map<NodeId, size_t> position;
  NodeId at = *left.begin();
  while (position.emplace(at, walk.size()).second) {
    walk.push_back(at);
    NodeId next = kNone;
    for (const NodeId n : sources_of(graph, at)) {
      if (left.contains(n)) next = std::min(next, n);
    }
    at = next;
  }
  std::vector<NodeId> cycle(walk.begin() + static_cast<int64_t>(position[at]), walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  return cycle;
}

std::string label(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Source& source = node.sources.front();
  return node.onnx->type + " " + (source.name.empty() ? source.path : "'" + source.name + "'");
}

Diagnostic told(const Graph& graph, const std::vector<NodeId>& cycle) {
  constexpr size_t kMaxShown = 50;
  std::string text;
  for (size_t i = 0; i < std::min(cycle.size(), kMaxShown); ++i) text += label(graph, cycle[i]) + " -> ";
  if (cycle.size() > kMaxShown) text += "(" + std::to_string(cycle.size() - kMaxShown) + " more) -> ";
  const Source& first = graph.node(cycle.front()).sources.front();
  return fail(Code::graph_cycle)
      .say("nodes form a cycle")
      .at(first.place)
      .in(first.path)
      .because(text + label(graph, cycle.front()));
}

}  // namespace

void tell_cycles(const Graph& graph, ErrorList& errors) {
  constexpr int kMaxTold = 10;
  std::set<NodeId> left;
  for (NodeId id = 0; id < graph.node_capacity(); ++id) {
    if (graph.node(id).alive) left.insert(left.end(), id);
  }
  const auto before = [&](NodeId id) { return sources_of(graph, id); };
  const auto after = [&](NodeId id) { return targets_of(graph, id); };
  for (int i = 0; i < kMaxTold; ++i) {
    peel(left, before, after);
    peel(left, after, before);
    if (left.empty()) return;
    const std::vector<NodeId> cycle = one_cycle(graph, left);
    errors.add(told(graph, cycle));
    for (const NodeId id : cycle) left.erase(id);
  }
}

}  // namespace ge
