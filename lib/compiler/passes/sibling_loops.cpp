#include "compiler/passes/sibling_loops.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/loop_code.h"
#include "compiler/codegen/loop_nest.h"
#include "compiler/passes/grouping.h"

namespace ge {
namespace {

constexpr size_t kMaxJoined = 96;    // nodes of a body
constexpr size_t kMaxResults = 8;    // each is a pointer and a live tensor
constexpr size_t kMaxUsesSeen = 64;  // of one operand: a tensor may have very many readers
constexpr size_t kMaxAttempts = 8;   // nests built for one loop in vain

class SiblingJoiner {
 public:
  SiblingJoiner(Graph& graph, PassContext& context) : graph_(graph), context_(context) {}

  void run() {
    const auto order = graph_.order();
    for (size_t i = 0; i < order.size(); ++i) {
      position_[order[i]] = i;
      if (!is_loop(order[i])) continue;
      for (const ValueId v : graph_.node(order[i]).operands) readers_[v].loops.push_back(order[i]);
    }
    for (NodeId id : order) {
      reached_ = position_.at(id);
      attempts_ = 0;
      while (id != kNone && attempts_ < kMaxAttempts && is_loop(id)) id = join_one(id);
    }
  }

 private:
  bool is_loop(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.alive && node.op == Op::fused && attr_string(node, "kind") == "loop";
  }

  // The loop that `a` and a sibling behind it have become, or nothing.
  NodeId join_one(NodeId a) {
    const std::vector<ValueId> operands = graph_.node(a).operands;
    std::set<NodeId> seen{a};
    for (const ValueId v : operands) {
      Readers& readers = readers_[v];
      while (readers.next < readers.loops.size() && position_.at(readers.loops[readers.next]) <= reached_)
        ++readers.next;
      const size_t end = std::min(readers.loops.size(), readers.next + kMaxUsesSeen);
      for (size_t i = readers.next; i < end; ++i) {
        const NodeId b = readers.loops[i];
        if (!is_loop(b) || position_.at(b) <= position_.at(a) || !seen.insert(b).second) continue;
        const NodeId at = place(a, b);
        if (at == kNone || attempts_ >= kMaxAttempts) continue;
        if (!worth_joining(a, b, v)) continue;
        const size_t position = position_.at(at);
        const NodeId joined = join_loops(graph_, a, b);
        position_[joined] = position;
        return joined;
      }
    }
    return kNone;
  }

  // Whose place in the order both can take: a's where all that b reads is there by then, b's where nothing
  // before it reads a. So the positions stay an order, and no path from one to the other is looked for.
  NodeId place(NodeId a, NodeId b) const {
    const size_t first = position_.at(a), second = position_.at(b);
    const auto& reads = graph_.node(b).operands;
    if (std::all_of(reads.begin(), reads.end(), [&](ValueId v) {
          const NodeId producer = v == kNone ? kNone : graph_.value(v).producer;
          return producer == kNone || position_.at(producer) < first;
        }))
      return a;
    for (const ValueId v : graph_.node(a).results) {
      if (graph_.use_count(v) > kMaxUsesSeen) return kNone;
      for (const Graph::Use& u : graph_.uses(v))
        if (u.node != kNone && position_.at(u.node) <= second) return kNone;
    }
    return b;
  }

  Result<LoopNest> nest_of(const Graph& body) {
    context_.nest_nodes += body.live_nodes();
    return build_loop_nest(body, context_.exact);
  }

  bool worth_joining(NodeId a, NodeId b, ValueId shared) {
    const Node &left = graph_.node(a), &right = graph_.node(b);
    if (left.body->live_nodes() + right.body->live_nodes() > kMaxJoined ||
        left.results.size() + right.results.size() > kMaxResults)
      return false;
    ++attempts_;
    const auto one = nest_of(*left.body), other = nest_of(*right.body);
    if (!one.ok() || !other.ok() || !same_shape(*one, *other)) return false;
    const Joined joined = joined_body(graph_, a, b);
    const auto both = nest_of(joined.body);
    if (!both.ok() || !same_shape(*one, *both) ||
        both->program.sweeps > std::max(one->program.sweeps, other->program.sweeps) ||
        (context_.for_cuda && loop_code(both->program) > kMostLoopCode))
      return false;
    // Read once by the joined loop, at the element that each of the two reads.
    Dim elements(1), size(1);
    for (const Dim& d : both->domain) elements = elements * d;
    for (const Dim& d : graph_.type(shared).dims) size = size * d;
    const AxisMaps* in_one = only_read(*one, left.operands, shared);
    const AxisMaps* in_other = only_read(*other, right.operands, shared);
    const bool saves = elements == size && in_one != nullptr && in_other != nullptr && *in_one == *in_other &&
                       only_read(*both, joined.operands, shared) != nullptr;
    if (saves) attempts_ = 0;
    return saves;
  }

  static bool same_shape(const LoopNest& a, const LoopNest& b) {
    return a.domain == b.domain && a.program.row_rank == b.program.row_rank;
  }
  static const AxisMaps* only_read(const LoopNest& nest, const std::vector<ValueId>& operands, ValueId v) {
    const AxisMaps* found = nullptr;
    for (const LoopNest::Binding& binding : nest.operands) {
      if (binding.output || operands[binding.index] != v) continue;
      if (found != nullptr) return nullptr;
      found = &binding.axes;
    }
    return found;
  }

  Graph& graph_;
  PassContext& context_;
  // The loops that read a value, in order; what is before `next` has had its turn. Joined loops are not
  // entered.
  struct Readers {
    std::vector<NodeId> loops;
    size_t next = 0;
  };
  std::unordered_map<ValueId, Readers> readers_;
  std::unordered_map<NodeId, size_t> position_;
  size_t reached_ = 0;
  size_t attempts_ = 0;
};

}  // namespace

void join_sibling_loops(Graph& graph, PassContext& context) {
  SiblingJoiner(graph, context).run();
}

}  // namespace ge
