// join_projections: products of one operand with several constant weights become one product, whose parts are
// read in place.
//   before   %q = dot(%x, %wq) + %bq; %k = dot(%x, %wk) + %bk; %v = dot(%x, %wv) + %bv        (weights and
//   biases constant) after    %y = dot(%x, [%wq %wk %wv]) + [%bq %bk %bv]; %q = slice(%y); %k = slice(%y); %v
//   = slice(%y)
// Precondition: the left operand is the same value; weights are constants, repeated for a batch or not, that
// nothing else uses; all results have a constant bias of one element per column, or none has; none is an
// output. Every user of a result moves elements (reshape, transpose, slice) or is an attention, and one of
// the group leads to an attention: those read a slice where it stands, while an activation or a residual
// would rather be the epilogue of a product of its own. Gain: two launches a layer, the left operand read
// once, tiles that fill a GPU. Cost: none at run time; the joined weight is made when compiling. Class:
// rounding (a library may sum another width in another order). Here: constants are folded, attention is one
// op; before epilogues, which take the joined bias.
#include <algorithm>
#include <map>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace ge {
namespace {

struct Projection {
  NodeId dot = kNone;
  ValueId weight = kNone;  // constant, [K, N] or [1.., K, N]
  ValueId bias = kNone;    // constant of N elements
  ValueId result = kNone;  // of the bias's add, or of the dot
};

bool moves(Op op) {
  return op == Op::reshape || op == Op::transpose || op == Op::slice;
}

class Joiner {
 public:
  explicit Joiner(Graph& graph) : graph_(graph) {}

  Status run(bool& changed) {
    std::map<ValueId, std::vector<Projection>> by_operand;
    std::vector<ValueId> order;  // of first meeting, so that plans do not depend on the map
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.op != Op::dot || node.operands.size() != 2) continue;
      const auto p = read(id);
      if (!p) continue;
      auto& group = by_operand[node.operands[0]];
      if (group.empty()) order.push_back(node.operands[0]);
      group.push_back(*p);
    }
    for (const ValueId x : order)
      for (const bool biased : {true, false}) GE_TRY(join(x, by_operand[x], biased, changed));
    return {};
  }

 private:
  const Dims& dims(ValueId v) const { return graph_.type(v).dims; }

  // The constant behind a broadcast; kNone.
  ValueId constant_behind(ValueId v) const {
    const Node* node = graph_.producer(v);
    if (node != nullptr && node->op == Op::broadcast) v = node->operands[0];
    return graph_.is_constant(v) ? v : kNone;
  }

  std::optional<Projection> read(NodeId id) const {
    const Node& node = graph_.node(id);
    Projection p{id, constant_behind(node.operands[1]), kNone, node.results[0]};
    if (!is_float(graph_.type(p.result).dtype) || p.weight == kNone || dims(p.weight).size() < 2)
      return std::nullopt;
    // A weight with other users would be kept twice.
    if (graph_.use_count(p.weight) != 1 || graph_.use_count(node.operands[1]) != 1) return std::nullopt;
    for (size_t a = 0; a + 2 < dims(p.weight).size(); ++a)
      if (!dims(p.weight)[a].is_value(1)) return std::nullopt;
    take_bias(p);
    const auto& uses = graph_.uses(p.result);
    const bool movable = !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const Graph::Use& u) {
      return u.node != kNone && (moves(graph_.node(u.node).op) || graph_.node(u.node).op == Op::attention);
    });
    return movable ? std::optional(p) : std::nullopt;
  }

  void take_bias(Projection& p) const {
    const auto user = only_user(graph_, p.result);
    if (!user || graph_.node(*user).op != Op::add) return;
    const Node& add = graph_.node(*user);
    const ValueId other = add.operands[add.operands[0] == p.result ? 1 : 0];
    const ValueId bias = other == p.result ? kNone : constant_behind(other);
    if (bias == kNone || dims(bias).empty()) return;
    for (size_t a = 0; a + 1 < dims(bias).size(); ++a)
      if (!dims(bias)[a].is_value(1)) return;
    if (!(dims(bias).back() == dims(p.result).back())) return;
    p.bias = bias;
    p.result = add.results[0];
  }

  // Through what moves elements.
  bool leads_to_attention(ValueId v, int depth = 0) const {
    constexpr int kMaxDepth = 8;
    const auto& uses = graph_.uses(v);
    return depth < kMaxDepth && std::any_of(uses.begin(), uses.end(), [&](const Graph::Use& u) {
             if (u.node == kNone) return false;
             const Node& user = graph_.node(u.node);
             return user.op == Op::attention ||
                    (moves(user.op) && leads_to_attention(user.results[0], depth + 1));
           });
  }

  Status join(ValueId x, const std::vector<Projection>& all, bool biased, bool& changed) {
    std::vector<Projection> group;
    for (const Projection& p : all)
      if ((p.bias != kNone) == biased) group.push_back(p);
    if (group.size() < 2 || std::none_of(group.begin(), group.end(),
                                         [&](const Projection& p) { return leads_to_attention(p.result); }))
      return {};
    std::vector<Source> sources;
    for (const Projection& p : group) merge_sources(sources, graph_.node(p.dot).sources);
    Builder b(graph_, std::move(sources));
    const ValueId y = joined(b, x, group, biased);
    Dim start;
    for (const Projection& p : group) {
      if (b.failed()) break;
      const Dims shape = dims(p.result);
      Dims starts(shape.size());
      starts.back() = start;
      start = start + shape.back();
      const ValueId part =
          b.op(Op::slice, {y},
               {{"starts", starts}, {"steps", std::vector<int64_t>(shape.size(), 1)}, {"shape", shape}});
      if (!b.failed()) changed |= replace_value(graph_, p.result, part);
    }
    return b.take();
  }

  ValueId joined(Builder& b, ValueId x, const std::vector<Projection>& group, bool biased) const {
    std::vector<ValueId> weights, biases;
    for (const Projection& p : group) {
      const Dims& d = dims(p.weight);
      weights.push_back(b.reshape(p.weight, {d[d.size() - 2], d.back()}));
      if (biased) biases.push_back(b.reshape(p.bias, {dims(p.bias).back()}));
    }
    const ValueId weight = b.op(Op::concat, std::move(weights), {{"axis", int64_t{1}}});
    if (b.failed()) return kNone;
    Dims spread = dims(x);
    spread[spread.size() - 2] = dims(weight)[0];
    spread.back() = dims(weight)[1];
    const ValueId y = b.op(Op::dot, {x, b.broadcast(weight, spread)});
    if (!biased || b.failed()) return y;
    const ValueId bias = b.op(Op::concat, std::move(biases), {{"axis", int64_t{0}}});
    return b.failed() ? kNone : b.op(Op::add, {y, b.broadcast(bias, dims(y))});
  }

  Graph& graph_;
};

}  // namespace

Status join_projections(Graph& graph, PassContext& context) {
  if (context.exact) return {};
  bool changed = false;
  GE_TRY(Joiner(graph).run(changed));
  if (!changed) return {};
  remove_dead_nodes(graph);
  return fold_constants(graph, context);
}

}  // namespace ge
