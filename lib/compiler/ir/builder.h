// Builder: appends core ops with inferred types to a graph, for lowering and passes. Entry: Builder.
// Failures are remembered: after the first one every call returns kNone, and take() gives the error; so
// lowering code reads as formulas. Invariant: every node it adds satisfies ir/verify.
#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/infer.h"

namespace ge {

class Builder {
 public:
  Builder(Graph& graph, std::vector<Source> sources) : graph_(graph), sources_(std::move(sources)) {}
  Graph& graph() { return graph_; }
  const Type& type(ValueId v) const { return graph_.type(v); }
  int64_t rank(ValueId v) const { return static_cast<int64_t>(graph_.type(v).dims.size()); }

  ValueId op(Op op, std::vector<ValueId> operands, AttrMap attrs = {});  // one result
  ValueId map(
      Op op,
      std::initializer_list<ValueId> operands);  // broadcasts operands to each other first (numpy rules)
  ValueId constant(TensorData data);
  ValueId scalar(DType dtype, double value);        // rank 0
  ValueId cast(ValueId x, DType to);                // x itself where it has that type
  ValueId broadcast(ValueId x, const Dims& shape);  // x itself where it has that shape
  ValueId reshape(ValueId x, const Dims& shape);
  ValueId transpose(ValueId x, std::vector<int64_t> perm);
  ValueId reduce(ValueId x, std::string_view kind, std::vector<int64_t> axes, bool keepdims);
  ValueId dims(const Dims& values, bool scalar = false);
  // left [batch, heads, rows, depth] x right [batch, groups, depth, columns], where each right matrix serves
  // heads / groups left ones. Heads that are no multiple are a shape_mismatch.
  ValueId grouped_dot(ValueId left, ValueId right);
  // Numpy broadcast of two shapes; broadcast_mismatch where they cannot; unprovable equalities become
  // assertions.
  Result<Dims> broadcast_shape(const Dims& a, const Dims& b);

  void fail(Error error) {
    if (status_.ok()) status_ = Status(std::move(error));
  }
  bool failed() const { return !status_.ok(); }
  Status take() { return std::move(status_); }

 private:
  ValueId missing();  // fails unless something failed before
  Graph& graph_;
  std::vector<Source> sources_;
  Status status_;
};

}  // namespace ge
