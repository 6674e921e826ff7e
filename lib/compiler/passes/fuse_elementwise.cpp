// fuse_elementwise: groups maps, broadcasts, transposes, slices and row reductions into fused loops.
//   before   %a = add(%x, %bias'); %g = gelu(%a); %y = softmax(%g)
//   after    %y = fused(%x, %bias) {kind = "loop"} { the same three nodes }
// Precondition: core ops. A producer joins its consumer's loop when all its users are in it, when it only
// moves elements (then it is copied), or when its other users come later (then it is a second output); and
// when build_loop_nest accepts the loop: one set of row axes, nothing computed again for every element of a
// larger loop. Loops that read the same tensor side by side become one at the end (sibling_loops.h). Gain:
// each intermediate that disappears saves a write and a read, and a launch. Cost: none at run time; on a GPU
// a loop whose code NVRTC would compile for long is cut, and a note says so (codegen/loop_code.h). Here,
// last: dot and conv have taken their epilogues, what is left between kernels is memory traffic.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/codegen/loop_code.h"
#include "compiler/codegen/loop_nest.h"
#include "compiler/passes/grouping.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/sibling_loops.h"

namespace ge {
namespace {

constexpr size_t kMaxGroup = 96;  // nodes; of a GPU's loops the code is bounded too

bool moves_elements(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::broadcast:
    case Op::transpose:
    case Op::slice:
      return true;
    case Op::reshape:
      return is_unit_reshape(graph.type(node.operands[0]).dims, graph.type(node.results[0]).dims);
    default:
      return false;
  }
}
bool computes(const Node& node) {
  return is_map(node.op) || is_composite(node.op) || node.op == Op::cast || node.op == Op::reduce ||
         node.op == Op::iota;
}

class LoopGrower {
 public:
  LoopGrower(Graph& graph, PassContext& context) : graph_(graph), context_(context) {
    const auto order = graph.order();
    for (size_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (graph.node(*it).alive && computes(graph.node(*it)) && taken_.count(*it) == 0) grow(*it);
    if (cut_ == 0) return;
    context.notes.push_back("elementwise loops were cut before their code took long to compile: " +
                            std::to_string(cut_) + ", the first at " + first_cut_);
  }

 private:
  // A region while it grows: what may join it, the latest first.
  struct Growth {
    std::set<NodeId> region;
    std::set<std::pair<size_t, NodeId>> queue;
    std::set<NodeId> queued;
    std::vector<NodeId> copies;  // made for this region, so that they can be taken back
  };

  // Asking whether a loop can be built costs as much as the loop is long. So nodes join in batches that
  // double while all goes well; a batch that does not fit is taken back and begun again with single nodes.
  void grow(NodeId root) {
    now_ = {};
    now_.region = {root};
    root_position_ = position_.at(root);
    too_long_ = false;
    if (!feasible(now_.region)) return;
    enqueue(root);
    for (size_t batch = 1; !now_.queue.empty() && now_.region.size() < kMaxGroup;) {
      checked_ = batch == 1;
      const Growth before = now_;
      bool joined = false;
      for (size_t i = 0; i < batch && !now_.queue.empty() && now_.region.size() < kMaxGroup;)
        if (add_next()) {
          joined = true;
          ++i;
        }
      if (!checked_ && joined && !feasible(now_.region)) {
        take_back(before);
        batch = 1;
      } else {
        batch *= 2;
      }
    }
    if (too_long_ && cut_++ == 0) first_cut_ = graph_.node(root).source().path;
    taken_.insert(now_.region.begin(), now_.region.end());
    group_nodes(graph_, sorted(now_.region), "loop");
  }

  void enqueue(NodeId id) {
    for (const ValueId v : graph_.node(id).operands) {
      if (v == kNone || graph_.value(v).producer == kNone) continue;
      const NodeId p = graph_.value(v).producer;
      // Group nodes made by this pass have no position and are never taken.
      const auto at = position_.find(p);
      if (at != position_.end() && now_.region.count(p) == 0 && now_.queued.insert(p).second)
        now_.queue.insert({at->second, p});
    }
  }

  // The latest of the queue; false where it does not join.
  bool add_next() {
    const auto last = std::prev(now_.queue.end());
    const NodeId p = last->second;
    now_.queue.erase(last);
    std::vector<NodeId> added;
    if (!try_add(p, added) && !try_add_to_reduction(p, added)) return false;
    now_.region.insert(added.begin(), added.end());
    for (const NodeId id : added) enqueue(id);
    return true;
  }

  void take_back(const Growth& before) {
    while (now_.copies.size() > before.copies.size()) {
      drop_copy(now_.copies.back());
      now_.copies.pop_back();
    }
    now_ = before;
  }

  bool try_add(NodeId p, std::vector<NodeId>& added) {
    const Node& node = graph_.node(p);
    const bool moves = moves_elements(graph_, node);
    if (taken_.count(p) != 0 || !(moves || computes(node))) return false;
    const bool elsewhere = used_outside(p, now_.region);
    if (elsewhere && moves) return add_copy(p, added);
    if ((elsewhere && !others_come_later(p)) || (checked_ && !feasible_with(p))) return false;
    added = {p};
    return true;
  }

  // The region gets a copy of a node that only moves elements; the original stays for its other users.
  bool add_copy(NodeId p, std::vector<NodeId>& added) {
    const Node& node = graph_.node(p);
    const ValueId shared = node.results[0];
    const NodeId copy =
        graph_.add_node(node.op, node.operands, {graph_.type(shared)}, node.attrs, node.sources);
    const ValueId fresh = graph_.node(copy).results[0];
    // By the region's operands: the original may have very many users.
    for (const NodeId user : now_.region) {
      const auto& operands = graph_.node(user).operands;
      for (uint32_t i = 0; i < operands.size(); ++i)
        if (operands[i] == shared) graph_.set_operand(user, i, fresh);
    }
    position_[copy] = position_.at(p);
    original_[copy] = p;
    if (checked_ && !feasible_with(copy)) {
      drop_copy(copy);
      return false;
    }
    now_.copies.push_back(copy);
    added = {copy};
    return true;
  }
  void drop_copy(NodeId copy) {
    graph_.replace_all_uses(graph_.node(copy).results[0], graph_.node(original_.at(copy)).results[0]);
    graph_.remove_node(copy);
    position_.erase(copy);
  }

  // A value per row is only worth computing in the loop together with the reduction it comes from (before
  // that reduction is in, the loop has no rows): takes the chain from p back to a reduction, all or nothing.
  bool try_add_to_reduction(NodeId p, std::vector<NodeId>& added) {
    constexpr size_t kMaxChain = 16;
    std::set<NodeId> grown = now_.region;
    std::vector<NodeId> chain{p};
    for (size_t i = 0; i < chain.size() && chain.size() <= kMaxChain; ++i) {
      const Node& node = graph_.node(chain[i]);
      if (taken_.count(chain[i]) != 0 || position_.count(chain[i]) == 0 || used_outside(chain[i], grown))
        continue;
      if (!(moves_elements(graph_, node) || computes(node))) continue;
      if (grown.insert(chain[i]).second) added.push_back(chain[i]);
      if (node.op == Op::reduce) return feasible(grown);
      for (const ValueId v : node.operands)
        if (v != kNone && graph_.value(v).producer != kNone) chain.push_back(graph_.value(v).producer);
    }
    return false;
  }

  bool used_outside(NodeId p, const std::set<NodeId>& region) const {
    for (const ValueId v : graph_.node(p).results)
      for (const Graph::Use& u : graph_.uses(v))
        if (u.node == kNone || region.count(u.node) == 0) return true;
    return false;
  }
  // No user outside the region can lead back into it: all stand behind the root. Graph outputs are always
  // behind.
  bool others_come_later(NodeId p) const {
    for (const Graph::Use& u : graph_.uses(graph_.node(p).results[0])) {
      if (u.node == kNone || now_.region.count(u.node) != 0) continue;
      const auto at = position_.find(u.node);  // not found: a loop made before this one, so behind it
      if (at != position_.end() && at->second <= root_position_) return false;
    }
    return true;
  }
  std::vector<NodeId> sorted(const std::set<NodeId>& region) const {
    std::vector<NodeId> nodes(region.begin(), region.end());
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return std::pair(position_.at(a), a) < std::pair(position_.at(b), b);
    });
    return nodes;
  }
  bool feasible(const std::set<NodeId>& region) {
    context_.nest_nodes += region.size();
    const auto nest = build_loop_nest(body_of(graph_, sorted(region)).body, context_.exact);
    const bool too_long =
        nest.ok() && context_.for_cuda && loop_code(nest->program) > kMostLoopCode && region.size() > 1;
    too_long_ = too_long_ || too_long;
    return nest.ok() && !too_long;
  }
  bool feasible_with(NodeId p) {
    std::set<NodeId> grown = now_.region;
    grown.insert(p);
    return feasible(grown);
  }

  Graph& graph_;
  PassContext& context_;
  std::unordered_map<NodeId, size_t> position_;
  std::map<NodeId, NodeId> original_;  // of copies
  std::unordered_set<NodeId> taken_;
  Growth now_;
  size_t root_position_ = 0;
  bool too_long_ = false;  // a node did not join because of the code's length
  size_t cut_ = 0;         // loops of which that is so
  std::string first_cut_;
  bool checked_ = true;  // each node is asked for before it joins
};

}  // namespace

Status fuse_elementwise(Graph& graph, PassContext& context) {
  LoopGrower(graph, context);
  join_sibling_loops(graph, context);
  return {};
}

}  // namespace ge
