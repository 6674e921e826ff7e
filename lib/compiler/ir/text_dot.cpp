// Graphs for Graphviz. Entry: to_dot.
#include "compiler/ir/text.h"
#include "compiler/ir/text_literals.h"

namespace ge {

std::string to_dot(const Graph& graph) {
  std::string out =
      "digraph " + quoted(graph.name) + " {\n  rankdir=TB;\n  node [shape=box, fontname=\"Helvetica\"];\n";
  for (const ValueId v : graph.inputs) {
    out += "  v" + std::to_string(v) +
           " [shape=ellipse, label=" + quoted(graph.value(v).name + "\n" + to_string(graph.type(v))) + "];\n";
  }
  const auto origin = [&](ValueId v) {
    const NodeId producer = graph.value(v).producer;
    return producer == kNone ? "v" + std::to_string(v) : "n" + std::to_string(producer);
  };
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    std::string label = node.op == Op::onnx && node.onnx ? node.onnx->type : std::string(name_of(node.op));
    if (node.body) {
      label += ":";
      for (const NodeId inner : node.body->order())
        label += " " + std::string(name_of(node.body->node(inner).op));
    }
    if (!node.sources.empty()) label += "\n" + node.sources.front().path;
    out += "  n" + std::to_string(id) + " [label=" + quoted(label) +
           (node.op == Op::constant ? ", style=dashed" : "") + "];\n";
    for (const ValueId v : node.operands) {
      if (v == kNone) continue;
      out += "  " + origin(v) + " -> n" + std::to_string(id) + " [label=" + quoted(to_string(graph.type(v))) +
             "];\n";
    }
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string node = "o" + std::to_string(i);
    out += "  " + node +
           " [shape=ellipse, label=" + quoted(i < graph.output_names.size() ? graph.output_names[i] : "") +
           "];\n";
    out += "  " + origin(graph.outputs[i]) + " -> " + node + ";\n";
  }
  return out + "}\n";
}

}  // namespace ge
