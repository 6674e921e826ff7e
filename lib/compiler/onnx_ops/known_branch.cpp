#include "compiler/onnx_ops/known_branch.h"

#include "compiler/onnx_ops/known_number.h"
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

Diagnostic about(const Node& node, Code code, const std::string& message, std::string_view below = "") {
  return fail(code).say(node_label(node) + ": " + message).at(place_of(node)).in(pointer_below(node, below));
}

std::optional<bool> condition_of(const Graph& graph, ValueId value) {
  const auto& contents = graph.value(value).contents;
  if (contents && contents->size() == 1 && contents->front().is_static())
    return !contents->front().is_value(0);
  const auto number = known_number(graph, value);
  return number ? std::optional(*number != 0) : std::nullopt;
}

// A copy of one of the branch's nodes, its operands and results mapped.
NodeId copy_node(Graph& graph, const Graph& body, const Node& node, std::map<ValueId, ValueId>& values) {
  std::vector<ValueId> operands;
  for (const ValueId v : node.operands) operands.push_back(v == kNone ? kNone : values.at(v));
  std::vector<Type> types;
  for (const ValueId v : node.results) types.push_back(body.type(v));
  NodeId id;
  if (node.data) {
    id = graph.value(graph.add_constant(*node.data, node.sources)).producer;
  } else {
    id = graph.add_node(node.op, std::move(operands), std::move(types), node.attrs, node.sources);
    if (node.onnx) graph.node(id).onnx = std::make_unique<OnnxName>(*node.onnx);
  }
  for (size_t i = 0; i < node.results.size(); ++i) {
    const ValueId made = graph.node(id).results[i];
    graph.value(made).name = body.value(node.results[i]).name;
    values[node.results[i]] = made;
  }
  return id;
}

}  // namespace

bool is_if(const Node& node) {
  return node.op == Op::onnx && node.onnx->domain.empty() && node.onnx->type == "If";
}

Result<Branch> inline_known_branch(Graph& graph, NodeId id) {
  if (graph.node(id).operands.empty() || graph.node(id).operands[0] == kNone)
    return about(graph.node(id), Code::operand_count, "input 'cond' is required", "/inputs");
  const auto condition = condition_of(graph, graph.node(id).operands[0]);
  if (!condition) {
    return about(graph.node(id), Code::needs_constant, "the condition must be known at compile time",
                 "/inputs/0")
        .because("it depends on values of the graph's inputs")
        .try_(
            "make what decides it a constant with --freeze NAME=FILE.npy, or pin or bound a dim with --dim");
  }
  const std::string name = *condition ? "then_branch" : "else_branch";
  const auto at = graph.node(id).attrs.find(name);
  const auto* held =
      at == graph.node(id).attrs.end() ? nullptr : std::get_if<std::shared_ptr<Graph>>(&at->second);
  if (!held)
    return about(graph.node(id), Code::missing_attribute, "attribute '" + name + "' must be a graph");
  const std::shared_ptr<Graph> body = *held;
  const size_t captured = graph.node(id).operands.size() - 1;
  if (body->inputs.size() != captured || body->outputs.size() != graph.node(id).results.size()) {
    return about(graph.node(id), Code::operand_count, name + " has other inputs or outputs than the node",
                 "/attributes/" + name)
        .because("found " + std::to_string(body->outputs.size()) + " outputs for " +
                 std::to_string(graph.node(id).results.size()));
  }
  std::map<ValueId, ValueId> values;
  for (size_t i = 0; i < captured; ++i) values[body->inputs[i]] = graph.node(id).operands[i + 1];
  Branch branch;
  for (const NodeId inner : body->order())
    branch.nodes.push_back(copy_node(graph, *body, body->node(inner), values));
  for (const ValueId v : body->outputs) branch.outputs.push_back(values.at(v));
  return branch;
}

}  // namespace ge
