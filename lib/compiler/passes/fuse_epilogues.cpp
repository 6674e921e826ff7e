// fuse_epilogues: merges a bias, a residual and an activation into the dot or conv that produces their
// operand.
//   before   %h = dot(%x, %w); %s = add(%h, broadcast(%b)); %t = add(%s, %r); %y = relu(%t)
//   after    %y = fused(%x, %w, %b, %r) {kind = "dot"} { the same nodes }
// Precondition: each intermediate has one user and is no output; the bias is a value broadcast to the result
// (conv: along its channel axis); the residual is a value of the result's own type; the activation is one
// that kernels know (see epilogue_activation). Gain: a write and a read of the result for each, and a launch.
// Cost: none; where a library's product takes no residual or activation, selection compares with a loop
// behind it. The sum stays in float32 through all of them: class rounding. Here: folded scales have become
// biases; loops would swallow the chain later.
#include <algorithm>
#include <optional>

#include "compiler/passes/epilogue.h"
#include "compiler/passes/grouping.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "numeric/convert.h"

namespace ge {
namespace {

// Copies a broadcast that others use as well, so that the group owns one.
ValueId own_broadcast(Graph& graph, ValueId v) {
  const NodeId id = graph.value(v).producer;
  if (graph.use_count(v) == 1) return v;
  const Node& node = graph.node(id);
  return graph.node(graph.add_node(node.op, node.operands, {graph.type(v)}, node.attrs, node.sources))
      .results[0];
}

bool is_broadcast(const Graph& graph, ValueId v) {
  const Node* node = graph.producer(v);
  return node != nullptr && node->op == Op::broadcast;
}

// The bias a conv kernel can add: one value per channel, [M, 1, 1...] before broadcasting (leading units
// dropped); channels last: [M].
bool is_channel_bias(const Graph& graph, ValueId v, const Dims& result, bool channels_last) {
  const Dims& dims = graph.type(v).dims;
  const size_t axis = channels_last ? result.size() - 1 : 1;  // of the result
  if (dims.size() + axis < result.size() || dims.size() > result.size()) return false;
  const size_t channel = dims.size() + axis - result.size();
  if (dims[channel] != result[axis]) return false;  // one value for all channels: a map adds it
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != channel && !dims[i].is_value(1)) return false;
  return true;
}

bool has_bias(const Node& node) {
  return has_operand(node, 2);
}

// What a group has taken so far.
struct Taken {
  NodeId product = kNone;
  bool bias = false, residual = false;
  std::vector<NodeId> group;
};

// The value that the only user of `value`, an add, adds to it: its operand's index, or nothing.
std::optional<std::pair<NodeId, uint32_t>> added(const Graph& graph, ValueId value) {
  const auto user = only_user(graph, value);
  if (!user || graph.node(*user).op != Op::add) return std::nullopt;
  const uint32_t other = graph.node(*user).operands[0] == value ? 1 : 0;
  if (graph.node(*user).operands[other] == value) return std::nullopt;
  return std::pair(*user, other);
}

// Adds the `add` of a bias behind `value` to the group; returns its result, or `value` where there is none to
// take.
ValueId take_bias(Graph& graph, ValueId value, Taken& taken) {
  const auto add = added(graph, value);
  if (!add || taken.bias) return value;
  const ValueId bias = graph.node(add->first).operands[add->second];
  if (!is_broadcast(graph, bias)) return value;
  const ValueId small = graph.producer(bias)->operands[0];
  const Node& product = graph.node(taken.product);
  if (product.op == Op::conv &&
      !is_channel_bias(graph, small, graph.type(value).dims, attr_int(product, "channels_last") != 0))
    return value;
  const ValueId owned = own_broadcast(graph, bias);
  if (owned != bias) graph.set_operand(add->first, add->second, owned);
  taken.group.push_back(graph.value(owned).producer);
  taken.group.push_back(add->first);
  taken.bias = true;
  return graph.node(add->first).results[0];
}

// The same of a residual: any value of the result's own shape that memory holds. It cannot come from the
// product, which nothing but this add uses.
ValueId take_residual(Graph& graph, ValueId value, Taken& taken) {
  const auto add = added(graph, value);
  if (!add || taken.residual) return value;
  const ValueId residual = graph.node(add->first).operands[add->second];
  if (is_broadcast(graph, residual) || graph.is_constant(residual)) return value;
  if (!(graph.type(residual) == graph.type(value))) return value;  // dims that are only asserted to be equal
  taken.group.push_back(add->first);
  taken.residual = true;
  return graph.node(add->first).results[0];
}

void take_activation(Graph& graph, ValueId value, std::vector<NodeId>& group) {
  const auto user = only_user(graph, value);
  if (!user || !epilogue_activation(graph, graph.node(*user), value)) return;
  for (uint32_t i = 1; i < graph.node(*user).operands.size();
       ++i) {  // the bounds of a clamp belong to the group
    const ValueId bound = graph.node(*user).operands[i];
    if (!is_broadcast(graph, bound)) continue;
    const ValueId owned = own_broadcast(graph, bound);
    graph.set_operand(*user, i, owned);
    group.push_back(graph.value(owned).producer);
  }
  group.push_back(*user);
}

}  // namespace

std::optional<double> scalar_value(const Graph& graph, ValueId v) {
  while (is_broadcast(graph, v)) v = graph.producer(v)->operands[0];
  const TensorData* data = graph.constant(v);
  if (data == nullptr || !(data->splat || data->count() == 1) || data->load) return std::nullopt;
  return load_as_double(data->dtype, data->bytes->data(), 0);
}

std::optional<EpilogueActivation> epilogue_activation(const Graph& graph, const Node& node, ValueId operand) {
  switch (node.op) {
    case Op::relu:
    case Op::sigmoid:
    case Op::tanh:
    case Op::gelu:
    case Op::gelu_tanh:
    case Op::silu:
    case Op::hard_swish:
    case Op::mish:
    case Op::softplus:
      return EpilogueActivation{*scalar_code(node.op), 0, 0};
    case Op::clamp: {
      if (node.operands[0] != operand) return std::nullopt;
      const auto low = scalar_value(graph, node.operands[1]), high = scalar_value(graph, node.operands[2]);
      if (!low || !high) return std::nullopt;
      return EpilogueActivation{*scalar_code(node.op), *low, *high};
    }
    default:
      return std::nullopt;
  }
}

Status fuse_epilogues(Graph& graph, PassContext& context) {
  if (context.exact) return {};
  for (const NodeId id : graph.order()) {
    const Op op = graph.node(id).op;
    if (op != Op::dot && op != Op::conv) continue;
    if (!is_float(graph.type(graph.node(id).results[0]).dtype)) continue;
    Taken taken{id, has_bias(graph.node(id)), false, {id}};
    ValueId sum = take_bias(graph, graph.node(id).results[0], taken);
    sum = take_residual(graph, sum, taken);
    sum = take_bias(graph, sum, taken);
    take_activation(graph, sum, taken.group);
    if (taken.group.size() > 1) group_nodes(graph, taken.group, op == Op::dot ? "dot" : "conv");
  }
  return {};
}

}  // namespace ge
