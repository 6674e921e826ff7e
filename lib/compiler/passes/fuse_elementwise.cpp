// fuse_elementwise: groups maps, broadcasts, transposes, slices and row reductions into fused loops.
//   before   %a = add(%x, %bias'); %g = gelu(%a); %y = softmax(%g)
//   after    %y = fused(%x, %bias) {kind = "loop"} { the same three nodes }
// Precondition: core ops. A producer joins its consumer's loop when all its users are in it, when it only
// moves elements (then it is copied), or when its other users come later (then it is a second output); and
// when build_loop_nest accepts the loop: one set of row axes, nothing computed again for every element of a
// larger loop. Gain: each intermediate that disappears saves a write and a read, and a launch. Cost: none at
// run time. Here, last: dot and conv have taken their epilogues, what is left between kernels is memory
// traffic.
#include <algorithm>
#include <queue>
#include <set>

#include "compiler/codegen/loop_nest.h"
#include "compiler/passes/grouping.h"
#include "compiler/passes/passes.h"

namespace ge {
namespace {

constexpr size_t kMaxGroup = 96;

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
  }

 private:
  struct Later {
    bool operator()(const std::pair<size_t, NodeId>& a, const std::pair<size_t, NodeId>& b) const {
      return a < b;
    }
  };

  void grow(NodeId root) {
    region_ = {root};
    root_position_ = position_.at(root);
    std::priority_queue<std::pair<size_t, NodeId>, std::vector<std::pair<size_t, NodeId>>, Later> queue;
    std::set<NodeId> queued;
    const auto enqueue = [&](NodeId id) {
      for (const ValueId v : graph_.node(id).operands) {
        if (v == kNone || graph_.value(v).producer == kNone) continue;
        const NodeId p = graph_.value(v).producer;
        const auto at =
            position_.find(p);  // group nodes made by this pass have no position and are never taken
        if (at != position_.end() && region_.count(p) == 0 && queued.insert(p).second)
          queue.push({at->second, p});
      }
    };
    if (!feasible(region_)) return;
    enqueue(root);
    while (!queue.empty() && region_.size() < kMaxGroup) {
      const NodeId p = queue.top().second;
      queue.pop();
      const std::set<NodeId> before = region_;
      if (!try_add(p) && !try_add_to_reduction(p)) continue;
      for (const NodeId id : region_)
        if (before.count(id) == 0) enqueue(id);
    }
    for (const NodeId id : region_) taken_.insert(id);
    group_nodes(graph_, sorted(region_), "loop");
  }

  bool try_add(NodeId p) {
    const Node& node = graph_.node(p);
    const bool moves = moves_elements(graph_, node);
    if (taken_.count(p) != 0 || !(moves || computes(node))) return false;
    std::set<NodeId> grown = region_;
    grown.insert(p);
    if (!used_outside(p, region_)) {
      if (!feasible(grown)) return false;
      region_ = std::move(grown);
      return true;
    }
    if (moves) return add_copy(p);
    if (!others_come_later(p) || !feasible(grown)) return false;
    region_ = std::move(grown);
    return true;
  }

  // The region gets a copy of a node that only moves elements; the original stays for its other users.
  bool add_copy(NodeId p) {
    const std::vector<Graph::Use> uses = graph_.uses(graph_.node(p).results[0]);
    const Node& node = graph_.node(p);
    const NodeId copy =
        graph_.add_node(node.op, node.operands, {graph_.type(node.results[0])}, node.attrs, node.sources);
    const ValueId original = graph_.node(p).results[0], fresh = graph_.node(copy).results[0];
    for (const Graph::Use& u : uses)
      if (u.node != kNone && region_.count(u.node) != 0) graph_.set_operand(u.node, u.operand, fresh);
    position_[copy] = position_.at(p);
    std::set<NodeId> grown = region_;
    grown.insert(copy);
    if (feasible(grown)) {
      region_ = std::move(grown);
      return true;
    }
    graph_.replace_all_uses(fresh, original);
    graph_.remove_node(copy);
    return false;
  }

  // A value per row is only worth computing in the loop together with the reduction it comes from (before
  // that reduction is in, the loop has no rows): takes the chain from p back to a reduction, all or nothing.
  bool try_add_to_reduction(NodeId p) {
    constexpr size_t kMaxChain = 16;
    std::set<NodeId> grown = region_;
    std::vector<NodeId> chain{p};
    for (size_t i = 0; i < chain.size() && chain.size() <= kMaxChain; ++i) {
      const Node& node = graph_.node(chain[i]);
      if (taken_.count(chain[i]) != 0 || position_.count(chain[i]) == 0 || used_outside(chain[i], grown))
        continue;
      if (!(moves_elements(graph_, node) || computes(node))) continue;
      grown.insert(chain[i]);
      if (node.op == Op::reduce) {
        if (!feasible(grown)) return false;
        region_ = std::move(grown);
        return true;
      }
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
      if (u.node == kNone || region_.count(u.node) != 0) continue;
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
  bool feasible(const std::set<NodeId>& region) const {
    return build_loop_nest(body_of(graph_, sorted(region)).body, context_.exact).ok();
  }

  Graph& graph_;
  PassContext& context_;
  std::map<NodeId, size_t> position_;
  std::set<NodeId> region_, taken_;
  size_t root_position_ = 0;
};

}  // namespace

Status fuse_elementwise(Graph& graph, PassContext& context) {
  LoopGrower(graph, context);
  return {};
}

}  // namespace ge
