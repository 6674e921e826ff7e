// fold_constants: replaces what depends on constants alone by its value.
//   before   %s = dims() {values = [batch, 16]}; %n = gather(%s, 1); %k = mul(%n, 2); %v = div(%scale,
//   sqrt(%variance)) after    %k = constant int64[] [32]; %v = constant float32[64] [...]
// Precondition: bounds of work and bytes (constant_subgraph.cpp); float64 functions of the C library are left
// to the run, their last bit differs between machines. Integers whose elements are known as dims become
// constants or `dims` nodes, so that the shape chain of a model with a symbolic batch has no users left.
// Gain: the folded work at every run. Cost: bytes in the plan, at most 4 times what the operands took, or 1
// MiB. Class: exact, the reference kernels compute it. Here: right after lowering, all later passes ask "is
// it constant?".
#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/ir/constant_indices.h"
#include "compiler/passes/constant_subgraph.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "numeric/convert.h"

namespace ge {

namespace {
// A constant, or dims() under what moves and narrows it: the form that known contents take.
bool is_dims_form(const Graph& graph, ValueId v) {
  const Node* node = graph.producer(v);
  while (node != nullptr && (node->op == Op::reshape || node->op == Op::cast))
    node = graph.producer(node->operands[0]);
  return node != nullptr && (node->op == Op::dims || node->op == Op::constant);
}

// `dims` gives sizes: numbers that may be negative are left to what computes them.
bool are_sizes(const Graph& graph, const Dims& contents) {
  return std::all_of(contents.begin(), contents.end(),
                     [&](const Dim& d) { return d.bounds(graph.symbols).min >= 0; });
}

// `dims` is the shape of a view, whose number of elements must be an int64: contents that are no tensor's
// shape are made in several parts.
ValueId as_dims(Builder& b, const Type& type, const Dims& contents) {
  if (type.dims.empty()) return b.cast(b.dims(contents, true), type.dtype);
  constexpr int64_t kLargestExtent = int64_t{1} << 20;  // of a symbol without bounds
  std::vector<ValueId> parts;
  Dims part;
  double elements = 1;
  const auto close = [&] {
    if (!part.empty()) parts.push_back(b.dims(part));
    part.clear();
    elements = 1;
  };
  for (const Dim& d : contents) {
    SymbolRanges ranges = b.graph().symbols;
    for (const std::string& name : d.symbols()) {
      int64_t& most = ranges[name].max;
      most = std::min(most, std::max(ranges[name].min, kLargestExtent));
    }
    const auto most = static_cast<double>(std::max<int64_t>(d.bounds(ranges).max, 1));
    if (elements * most > 0x1p62) close();
    elements *= most;
    part.push_back(d);
  }
  close();
  const ValueId all = parts.size() == 1 ? parts[0] : b.op(Op::concat, parts, {{"axis", int64_t{0}}});
  return b.cast(b.reshape(all, type.dims), type.dtype);
}

ValueId as_constant(Builder& b, const Type& type, const std::vector<int64_t>& values) {
  TensorData data = tensor_of(values);
  data.dims = *static_values(type.dims);
  if (type.dtype != DType::int64) {
    ByteBuffer narrow = ByteBuffer::allocate(static_cast<size_t>(bytes_of(type.dtype, data.count())), true);
    for (size_t i = 0; i < values.size(); ++i)
      store_from_int64(type.dtype, narrow.data(), static_cast<int64_t>(i), values[i]);
    data.dtype = type.dtype;
    data.bytes = std::make_shared<const ByteBuffer>(std::move(narrow));
  }
  return b.constant(std::move(data));
}

// Values with known elements are made from those elements, not from what computed them.
Status replace_known_contents(Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == Op::onnx || node.op == Op::constant || node.results.size() != 1) continue;
    const ValueId v = node.results[0];
    const auto& contents = graph.value(v).contents;
    if (!contents || graph.use_count(v) == 0) continue;
    Builder b(graph, node.sources);
    if (const auto values = static_values(*contents)) {
      replace_value(graph, v, as_constant(b, graph.type(v), *values));
    } else if (!is_dims_form(graph, v) && are_sizes(graph, *contents)) {
      replace_value(graph, v, as_dims(b, graph.type(v), *contents));
    }
    GE_TRY(b.take());
  }
  return {};
}

// Indices that nodes from `first_new` on made are known now. Those of the model were read when it was
// lowered: a table may be long, and in a file.
Status check_new_indices(const Graph& graph, NodeId first_new) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op != Op::gather && node.op != Op::scatter) continue;
    const NodeId maker = graph.value(node.operands[1]).producer;
    if (maker == kNone || maker < first_new) continue;
    const Dims& data = graph.type(node.operands[0]).dims;
    if (std::any_of(data.begin(), data.end(), [](const Dim& d) { return d.is_value(0); })) continue;
    const Dim& extent = data[static_cast<size_t>(attr_int(node, "axis", 0))];
    GE_ASSIGN(const auto bad, find_bad_index(graph, node.operands[1], {extent}));
    if (!bad) continue;
    return fail(Code::index_out_of_range)
        .at(node.source().place)
        .in(node.source().path)
        .because("found " + bad->value + " at " + bad->position + " of the indices; the axis has " +
                 extent.to_string() + " elements");
  }
  return {};
}
}  // namespace

Status fold_constants(Graph& graph, PassContext& context) {
  const auto first_new = static_cast<NodeId>(graph.node_capacity());
  GE_TRY(replace_known_contents(graph));
  remove_dead_nodes(graph);
  ConstantSubgraph constants(graph);
  if (constants.frontier().empty() || context.evaluate == nullptr) return check_new_indices(graph, first_new);
  auto contents = constants.evaluate(*context.evaluate);
  if (!contents.ok()) {
    // Every run would meet it too.
    if (contents.error().first().code == Code::index_out_of_range) return std::move(contents).take_error();
    if (contents.error().kind() != ErrorKind::kUser) return std::move(contents).take_error();
    context.notes.push_back("constants are not folded: " + contents.error().first().message);
    return {};
  }
  for (size_t i = 0; i < constants.frontier().size(); ++i) {
    const ValueId v = constants.frontier()[i];
    Builder b(graph, graph.producer(v)->sources);
    replace_value(graph, v, b.constant(std::move((*contents)[i])));
    GE_TRY(b.take());
  }
  remove_dead_nodes(graph);
  return check_new_indices(graph, first_new);
}

}  // namespace ge
