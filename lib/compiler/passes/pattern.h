// What `recognise` finds composites with. Entry: Pattern, made for one anchor node; match_<name> of
// patterns.def. A value is read as a sum of products of a few leaves, with constants multiplied out: so one
// formula stands for every order in which exporters write it (x * 0.5 * (1 + e), 0.5 * x + 0.5 * x * e, (x /
// 2) * (e + 1) ...). Broadcasts and unit reshapes are looked through; how each leaf lies under the value is
// kept. Constants are compared with a tolerance of a few ulp of their dtype. Invariant: replace() changes
// nothing where an inner value is an output or has a user outside of what it replaces.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "compiler/codegen/operand_view.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace ge {

// A value that formulas are written in.
struct Leaf {
  ValueId value = kNone;
  std::optional<AxisMaps> maps;  // how it lies under the value read last; empty where it was not met
};
struct Term {
  double factor = 0;
  std::vector<double> powers;  // of each leaf; short: zeros follow
};
using Sum = std::vector<Term>;

// v = scale * x + offset.
struct Affine {
  double scale = 1, offset = 0;
  ValueId x = kNone;
};

class Pattern {
 public:
  Pattern(Graph& graph, NodeId anchor);

  const Graph& graph() const { return graph_; }
  const Node& anchor() const { return graph_.node(anchor_); }
  ValueId result() const { return anchor().results[0]; }
  const Node* producer(ValueId v, Op op) const;  // null where another op makes it

  // The number that v repeats in every element.
  std::optional<double> number(ValueId v) const;
  // Equal but for a few ulp of the anchor's dtype.
  bool close(double a, double b) const;
  // The ways to read v as scale * x + offset, nothing taken off first.
  std::vector<Affine> affine_of(ValueId v) const;

  // v in terms of the leaves; empty where it is not. `free` leaves are appended: at most that many values
  // that are not written in the leaves, constants or repeated along an axis (a scale, a bias).
  std::optional<Sum> sum_of(ValueId v, std::vector<Leaf>& leaves, size_t free = 0) const;
  // The same of a leaf's value, as the formula before saw it.
  std::optional<Sum> sum_of(const Leaf& seen, std::vector<Leaf>& leaves) const;
  bool same(const Sum& a, const Sum& b) const;  // terms in any order
  bool is(ValueId v, std::vector<Leaf> leaves, const Sum& wanted) const;

  // Calls `take` for what is made from `from` and written in the leaves, nearest first. Gives up after a few.
  void walk_users(ValueId from, const std::vector<Leaf>& leaves, size_t free,
                  const std::function<void(ValueId, const Sum&, const std::vector<Leaf>&)>& take) const;
  // The nearest of them that is `wanted`, leaves whole; kNone.
  ValueId user(ValueId from, const std::vector<Leaf>& leaves, const Sum& wanted) const;

  // The leaf lies as it is; as one value per row, what a reduction over `axes` gives.
  bool is_whole(const Leaf& leaf, ValueId under) const;
  bool is_row(const Leaf& leaf, ValueId under, const std::vector<int64_t>& axes) const;
  // The reduction behind v, through moves and arithmetic with constants; null.
  const Node* reduction_behind(ValueId v) const;

  // root becomes what `make` gives, where all between it and `leaves` is used by nothing else. True where
  // done.
  bool replace(ValueId root, const std::vector<ValueId>& leaves,
               const std::function<ValueId(Builder&)>& make);
  bool replace(ValueId root, ValueId x, Op op);  // by op(x)

 private:
  using Powers = std::vector<double>;
  std::optional<Sum> read(ValueId v, const AxisMaps& maps, std::vector<Leaf>& leaves, size_t free,
                          int depth) const;
  std::optional<Sum> read_leaf(size_t i, const AxisMaps& maps, std::vector<Leaf>& leaves) const;
  std::optional<Sum> read_free(ValueId v, const AxisMaps& maps, std::vector<Leaf>& leaves, size_t free) const;
  bool same_place(ValueId v, const AxisMaps& a, const AxisMaps& b) const;
  std::optional<std::vector<NodeId>> between(ValueId root, const std::vector<ValueId>& leaves) const;

  Graph& graph_;
  NodeId anchor_;
  double tolerance_;        // relative
  mutable int budget_ = 0;  // values still to be read for one formula: shared ones are read again
};

// Which composites there are: patterns.def.
#define GE_PATTERN(name, anchor, ...) bool match_##name(Pattern& p);
#include "compiler/passes/patterns.def"
#undef GE_PATTERN

}  // namespace ge
