// Softmax, log_softmax and normalize in terms of maps and reductions. Entry: expand_composites.
#include "compiler/codegen/loop_nest.h"
#include "compiler/ir/builder.h"

namespace ge {
namespace {

ValueId row(Builder& b, ValueId x, std::string_view kind, std::vector<int64_t> axes) {
  const Dims full = b.type(x).dims;
  return b.broadcast(b.reduce(x, kind, std::move(axes), true), full);
}

ValueId expand_softmax(Builder& b, const Node& node, bool log) {
  const ValueId in = node.operands[0];
  const DType wide = register_type(b.type(in).dtype);
  const std::vector<int64_t> axes{attr_int(node, "axis")};
  const ValueId x = b.cast(in, wide);
  const ValueId centred = b.op(Op::sub, {x, row(b, x, "max", axes)});
  const ValueId e = b.op(Op::exp, {centred});
  const ValueId sum = row(b, e, "sum", axes);
  const ValueId y = log ? b.op(Op::sub, {centred, b.op(Op::log, {sum})}) : b.op(Op::div, {e, sum});
  return b.cast(y, b.type(in).dtype);
}

ValueId expand_normalize(Builder& b, const Node& node) {
  const ValueId in = node.operands[0];
  const DType own = b.type(in).dtype, wide = register_type(own);
  std::vector<int64_t> axes;
  for (int64_t a = attr_int(node, "axis"); a < b.rank(in); ++a) axes.push_back(a);
  ValueId x = b.cast(in, wide);
  if (attr_string(node, "kind") == "layer") x = b.op(Op::sub, {x, row(b, x, "mean", axes)});
  const ValueId variance = b.reduce(b.op(Op::mul, {x, x}), "mean", axes, true);
  const ValueId scale =
      b.op(Op::rsqrt, {b.map(Op::add, {variance, b.scalar(wide, attr_double(node, "epsilon", 1e-5))})});
  ValueId y = b.map(Op::mul, {x, scale});
  if (has_operand(node, 1)) y = b.op(Op::mul, {y, b.cast(node.operands[1], wide)});
  if (has_operand(node, 2)) y = b.op(Op::add, {y, b.cast(node.operands[2], wide)});
  return b.cast(y, own);
}

}  // namespace

bool is_composite(Op op) {
  return op == Op::softmax || op == Op::log_softmax || op == Op::normalize;
}

Status expand_composites(Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_composite(node.op)) continue;
    Builder b(graph, node.sources);
    const ValueId y = node.op == Op::normalize ? expand_normalize(b, node)
                                               : expand_softmax(b, node, node.op == Op::log_softmax);
    GE_TRY(b.take());
    graph.replace_all_uses(graph.node(id).results[0], y);
    graph.remove_node(id);
  }
  return {};
}

}  // namespace ge
