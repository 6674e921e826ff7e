// The part of a graph that depends on constants alone, gathered into one graph to evaluate. Entry:
// ConstantSubgraph. Invariant: splats stay splats: what elementwise ops and moves make of them is computed on
// one element.
#pragma once
#include <map>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/passes/manager.h"

namespace ge {

class ConstantSubgraph {
 public:
  explicit ConstantSubgraph(const Graph& graph);
  // Values to replace by constants: known here, but used where something is not. In topological order.
  const std::vector<ValueId>& frontier() const { return frontier_; }
  // Their contents, in the same order. A call of the evaluator for every 16 MiB, none where moving splats is
  // all there is to do.
  Result<std::vector<TensorData>> evaluate(const Evaluator& evaluate);

 private:
  struct Entry {
    bool splat = false;  // the value repeats one element: `built` is a scalar
    ValueId built = kNone;
  };
  bool foldable(const Node& node) const;
  bool within_bounds(const Node& node) const;
  int64_t stored_bytes(ValueId v) const;  // of a known value, without the copies that a broadcast makes
  bool stays_splat(const Node& node) const;
  bool is_written_out(ValueId v) const;
  bool worth_replacing(ValueId v) const;

  Status evaluate_group(const Evaluator& evaluate, size_t end, std::vector<TensorData>& contents);
  Result<Entry> build(ValueId v);
  Result<Entry> build_constant(ValueId v);
  Result<Entry> build_node(const Node& node, ValueId result);
  ValueId full(ValueId v);  // the entry as a whole tensor
  void build_operands_first(ValueId v, std::vector<ValueId>& order) const;

  const Graph& graph_;
  std::vector<bool> known_;  // by value: a constant, or computed from constants
  std::vector<bool> known_splat_;
  std::vector<ValueId> frontier_;
  Graph built_;
  std::map<ValueId, Entry> entries_;
  std::vector<HostTensor> inputs_;  // of built_
};

}  // namespace ge
