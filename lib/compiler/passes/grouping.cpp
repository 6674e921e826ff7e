#include "compiler/passes/grouping.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/passes/rewrite.h"

namespace ge {
namespace {

bool is_scalar_constant(const Graph& graph, ValueId v) {
  const TensorData* data = graph.constant(v);
  return data != nullptr && (data->splat || data->count() == 1);
}

// Copies `node` into `to`, operands renamed by `names`.
void copy_node(const Graph& from, const Node& node, Graph& to, std::map<ValueId, ValueId>& names) {
  std::vector<ValueId> operands;
  for (const ValueId v : node.operands) operands.push_back(v == kNone ? kNone : names.at(v));
  std::vector<Type> types;
  for (const ValueId v : node.results) types.push_back(from.type(v));
  const NodeId id = to.add_node(node.op, std::move(operands), std::move(types), node.attrs, node.sources);
  Node& copy = to.node(id);
  if (node.data) copy.data = std::make_unique<TensorData>(*node.data);
  if (node.body) copy.body = std::make_unique<Graph>(node.body->clone());
  for (size_t i = 0; i < node.results.size(); ++i) {
    names[node.results[i]] = copy.results[i];
    to.value(copy.results[i]).name = from.value(node.results[i]).name;
    to.value(copy.results[i]).contents = from.value(node.results[i]).contents;
  }
}

}  // namespace

Grouping body_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  const std::set<NodeId> inside(nodes.begin(), nodes.end());
  Grouping g;
  g.body.symbols = graph.symbols;
  std::map<ValueId, ValueId> names;
  const auto is_product = [&](NodeId id) {
    return graph.node(id).op == Op::dot || graph.node(id).op == Op::conv;
  };
  const bool has_product = std::any_of(nodes.begin(), nodes.end(), is_product);
  // What a product's kernel reads from memory, uniform or not: its tensors and the bias behind it.
  const auto reads_tensor = [&](NodeId reader) {
    if (is_product(reader)) return true;
    if (!has_product || graph.node(reader).op != Op::broadcast) return false;
    const auto& uses = graph.uses(graph.node(reader).results[0]);
    return std::any_of(uses.begin(), uses.end(), [&](const Graph::Use& u) {
      return u.node != kNone && graph.node(u.node).op == Op::add;
    });
  };
  const auto bring_in = [&](ValueId v, NodeId reader) {
    if (v == kNone || names.count(v) != 0) return;
    const bool is_tensor = reads_tensor(reader);
    if (!is_tensor && is_scalar_constant(graph, v)) {
      names[v] = g.body.add_constant(*graph.constant(v));
      return;
    }
    names[v] = g.body.add_input(graph.value(v).name, graph.type(v));
    g.operands.push_back(v);
  };
  for (const NodeId id : nodes) {
    const Node& node = graph.node(id);
    for (const ValueId v : node.operands) bring_in(v, id);
    copy_node(graph, node, g.body, names);
  }
  for (const NodeId id : nodes)
    for (const ValueId v : graph.node(id).results) {
      const auto& uses = graph.uses(v);
      if (std::any_of(uses.begin(), uses.end(),
                      [&](const Graph::Use& u) { return u.node == kNone || inside.count(u.node) == 0; }))
        g.results.push_back(v);
    }
  if (g.results.empty()) g.results.push_back(graph.node(nodes.back()).results[0]);
  for (size_t i = 0; i < g.results.size(); ++i)
    g.body.add_output(names.at(g.results[i]), "r" + std::to_string(i));
  return g;
}

NodeId group_nodes(Graph& graph, const std::vector<NodeId>& nodes, const std::string& kind) {
  Grouping g = body_of(graph, nodes);
  std::vector<Type> types;
  for (const ValueId v : g.results) types.push_back(graph.type(v));
  std::vector<Source> sources;
  for (const NodeId id : nodes) merge_sources(sources, graph.node(id).sources);
  const NodeId fused =
      graph.add_node(Op::fused, g.operands, std::move(types), {{"kind", kind}}, std::move(sources));
  graph.node(fused).body = std::make_unique<Graph>(std::move(g.body));
  const std::vector<ValueId> fresh = graph.node(fused).results;
  for (size_t i = 0; i < fresh.size(); ++i) graph.replace_all_uses(g.results[i], fresh[i]);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) graph.remove_node(*it);
  return fused;
}

Status inline_fused(Graph& graph, NodeId fused) {
  const std::vector<ValueId> operands = graph.node(fused).operands;
  const std::vector<ValueId> results = graph.node(fused).results;
  const Graph body = graph.node(fused).body->clone();
  std::map<ValueId, ValueId> names;
  for (size_t i = 0; i < body.inputs.size(); ++i) names[body.inputs[i]] = operands[i];
  for (const NodeId id : body.order()) copy_node(body, body.node(id), graph, names);
  for (size_t i = 0; i < results.size(); ++i) graph.replace_all_uses(results[i], names.at(body.outputs[i]));
  graph.remove_node(fused);
  return {};
}

Joined joined_body(const Graph& graph, NodeId a, NodeId b) {
  Joined joined;
  joined.body.symbols = graph.symbols;
  std::map<ValueId, ValueId> inputs;  // of the joined body, by the outside value
  for (const NodeId id : {a, b}) {
    const Node& fused = graph.node(id);
    std::map<ValueId, ValueId> names;
    for (size_t i = 0; i < fused.operands.size(); ++i) {
      const ValueId v = fused.operands[i];
      const auto [it, fresh] = inputs.emplace(v, kNone);
      if (fresh) {
        it->second = joined.body.add_input(graph.value(v).name, graph.type(v));
        joined.operands.push_back(v);
      }
      names[fused.body->inputs[i]] = it->second;
    }
    for (const NodeId inner : fused.body->order())
      copy_node(*fused.body, fused.body->node(inner), joined.body, names);
    for (const ValueId v : fused.body->outputs)
      joined.body.add_output(names.at(v), "r" + std::to_string(joined.body.outputs.size()));
  }
  return joined;
}

NodeId join_loops(Graph& graph, NodeId a, NodeId b) {
  Joined joined = joined_body(graph, a, b);
  std::vector<Type> types;
  std::vector<ValueId> results;
  std::vector<Source> sources;
  for (const NodeId id : {a, b}) {
    merge_sources(sources, graph.node(id).sources);
    for (const ValueId v : graph.node(id).results) {
      types.push_back(graph.type(v));
      results.push_back(v);
    }
  }
  const NodeId fused = graph.add_node(Op::fused, std::move(joined.operands), std::move(types),
                                      graph.node(a).attrs, std::move(sources));
  graph.node(fused).body = std::make_unique<Graph>(std::move(joined.body));
  const std::vector<ValueId> fresh = graph.node(fused).results;
  for (size_t i = 0; i < fresh.size(); ++i) graph.replace_all_uses(results[i], fresh[i]);
  graph.remove_node(a);
  graph.remove_node(b);
  return fused;
}

}  // namespace ge
