// A graph of ONNX operators under construction: values with known types, leaves made on demand, nodes that
// are kept only where lowering accepts them. Entry: GraphMaker. Invariant: graph() lowers without an error,
// and no value of it has more than max_elements() elements under the largest dims.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/onnx_ops/registry.h"
#include "fuzz/random.h"

namespace ge::test {

inline constexpr int64_t kMaxElements = 6000;        // of a value, but in one graph of 25:
inline constexpr int64_t kMaxElementsLarge = 80000;  // work for several threads, tiles and blocks
inline constexpr int64_t kMaxSymbol = 9;             // a symbol without a range is drawn from 0 .. this

// What a maker asks for: a node of one operator.
struct NodeSpec {
  std::vector<ValueId> operands;  // kNone: absent
  AttrMap attrs;
  size_t outputs = 1;
};

class GraphMaker {
 public:
  explicit GraphMaker(uint64_t seed);
  Random& random() { return random_; }
  int opset() const { return opset_; }
  int64_t max_elements() const { return max_elements_; }
  bool is_large() const { return max_elements_ > kMaxElements; }
  const Type& type(ValueId v) const { return graph_.type(v); }
  int64_t rank(ValueId v) const { return static_cast<int64_t>(type(v).dims.size()); }
  // The extent where it is a number.
  std::optional<int64_t> extent(ValueId v, int64_t axis) const {
    return type(v).dims[static_cast<size_t>(axis)].value();
  }
  int64_t elements(const Dims& dims) const;  // under the largest dims, saturating

  // Values to work on. Mostly ones that exist, else new leaves; kNone where no dtype is allowed.
  ValueId any(DTypeSet allowed, int64_t min_rank = 0, int64_t max_rank = 5);
  // One of x's dtype that broadcasts with x. `within`: the result keeps x's shape.
  ValueId partner(ValueId x, bool within = false);
  ValueId partner_of(DType dtype, const Dims& dims, bool within);
  // A leaf: an input, or an initializer where the shape is fixed (always one where `constant`).
  ValueId leaf(DType dtype, const Dims& dims, bool constant = false);
  // An existing value of this very type, else a leaf.
  ValueId exactly(DType dtype, const Dims& dims);
  ValueId ints(const std::vector<int64_t>& values, DType dtype = DType::int64);  // a rank 1 initializer
  // An initializer of this shape, its elements in low .. high.
  ValueId integers(DType dtype, const std::vector<int64_t>& shape, int64_t low, int64_t high);
  ValueId number(DType dtype, double value);  // a scalar initializer
  ValueId constant(TensorData data);
  DType some_dtype(DTypeSet allowed);
  Dims some_dims(int64_t min_rank, int64_t max_rank);

  // Appends a node; its first result, or kNone (and nothing is kept of it) where lowering refuses it or a
  // result is too large.
  ValueId add(const Operator& op, NodeSpec spec);
  // The same by name, at this graph's opset.
  ValueId add(std::string_view op, std::vector<ValueId> operands, AttrMap attrs = {}, size_t outputs = 1);
  // Work that is kept only where it returns true.
  template <class F>
  bool attempt(F&& work) {
    State saved = save();
    if (work()) return true;
    restore(std::move(saved));
    return false;
  }
  size_t node_count() const { return nodes_; }
  const std::string& refusal() const { return refusal_; }  // of the last add that failed

  // Chooses outputs and gives the graph; the maker is spent.
  Graph finish();

 private:
  struct State {
    Graph graph, lowered;
    std::vector<ValueId> pool, lowered_pool;
    size_t nodes;
  };
  State save() const;
  void restore(State saved);
  void declare_symbols();
  Dim some_dim();
  ValueId enter(ValueId value, ValueId lowered);
  ValueId lowered(ValueId value) const;
  TensorData contents(DType dtype, const std::vector<int64_t>& dims);
  double element(DType dtype, int kind);

  Random random_;
  int opset_;
  int64_t max_elements_ = kMaxElements;
  Graph graph_;    // what the case will be
  Graph lowered_;  // the same in core ops: what tells types
  std::vector<ValueId> pool_, lowered_pool_;
  size_t nodes_ = 0;
  std::string refusal_;
};

}  // namespace ge::test
