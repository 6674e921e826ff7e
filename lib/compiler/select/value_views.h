// Where values live relative to each other: reshape, transpose, broadcast and slice are views of what they
// read, and what feeds a concat may be written straight into its slice. Entry: ValueViews. Invariant:
// following a view always ends at a root: a graph input, a constant, or a value some launch writes densely.
#pragma once
#include <map>
#include <vector>

#include "compiler/codegen/operand_view.h"
#include "compiler/ir/graph.h"

namespace ge {

struct StridedView {
  ValueId root = kNone;
  Dim offset;          // elements from the root's first element
  Dims dims, strides;  // strides in elements
};
bool is_dense(const StridedView& view);
Dims dense_strides(const Dims& dims);

class ValueViews {
 public:
  explicit ValueViews(const Graph& graph);
  const StridedView& of(ValueId value) const { return views_[value]; }
  // The value through a launch's map: a view with the launch's domain.
  StridedView through(const OperandView& operand) const;
  // The node moves nothing: its result is a view.
  bool is_view(NodeId node) const { return view_nodes_[node]; }
  // The root value that can live in output `index`'s buffer: what the output holds, whole and dense, written
  // by a launch, and claimed by no earlier output. kNone: the output needs a copy.
  ValueId root_of_output(size_t index) const { return output_roots_[index]; }
  // The concat's operand `index` is written in place by its producer: no copy is needed.
  bool is_placed(ValueId value) const { return placed_.count(value) != 0; }

 private:
  void place_concat_operands();
  void claim_outputs();
  bool make_view(const Node& node, StridedView& out) const;

  const Graph& graph_;
  std::vector<StridedView> views_;     // by value id
  std::vector<bool> view_nodes_;       // by node id
  std::vector<ValueId> output_roots_;  // by output index
  struct Slice {
    ValueId concat;
    Dim start;
    size_t axis;
  };
  std::map<ValueId, Slice> placed_;
};

}  // namespace ge
