// Identities of core ops; see simplify.h. One function per op; each gives the value that the node's result
// equals.
#include "compiler/passes/simplify.h"

#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/passes/rewrite.h"

namespace ge {

namespace {
class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph) {}

  Status run() {
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.op == Op::onnx || node.results.size() != 1) continue;
      Builder b(graph_, node.sources);
      const ValueId result = node.results[0];
      const ValueId same = equivalent(node, b);
      GE_TRY(b.take());
      if (same != kNone) replace_value(graph_, result, same);
    }
    remove_dead_nodes(graph_);
    return {};
  }

 private:
  // A value that equals the node's result, or kNone. New nodes are made only where one is returned.
  ValueId equivalent(const Node& node, Builder& b) {
    switch (node.op) {
      case Op::reshape:
        return reshape(node, b);
      case Op::transpose:
        return transpose(node, b);
      case Op::broadcast:
        return broadcast(node, b);
      case Op::cast:
        return cast(node);
      case Op::slice:
        return slice(node);
      case Op::pad:
        return pad(node);
      case Op::concat:
        return concat(node, b);
      case Op::dims:
        return dims(node, b);
      case Op::reduce:
        return reduce(node);
      case Op::add:
        return add(node);
      case Op::sub:
        return is_uniform(graph_, node.operands[1], 0) ? node.operands[0] : kNone;
      case Op::mul:
        return mul(node);
      case Op::div:
        return is_uniform(graph_, node.operands[1], 1) ? node.operands[0] : kNone;
      case Op::neg:
      case Op::logical_not:
      case Op::bit_not:
        return undone(node);
      case Op::relu:
      case Op::abs:
        return repeated(node);
      case Op::select:
        return select(node);
      default:
        return kNone;
    }
  }

  const Type& type(ValueId v) const { return graph_.type(v); }
  bool keeps_type(const Node& node) const { return type(node.operands[0]) == type(node.results[0]); }
  // The producer of operand 0 where it is this op.
  const Node* behind(const Node& node, Op op) const {
    const Node* p = graph_.producer(node.operands[0]);
    return p != nullptr && p->op == op ? p : nullptr;
  }

  ValueId reshape(const Node& node, Builder& b) {
    if (keeps_type(node)) return node.operands[0];
    const Node* inner = behind(node, Op::reshape);
    return inner == nullptr ? kNone : b.reshape(inner->operands[0], type(node.results[0]).dims);
  }

  ValueId transpose(const Node& node, Builder& b) {
    std::vector<int64_t> perm = attr_ints(node, "perm");
    if (std::is_sorted(perm.begin(), perm.end())) return node.operands[0];
    const Node* inner = behind(node, Op::transpose);
    if (inner == nullptr) return kNone;
    for (int64_t& axis : perm) axis = attr_ints(*inner, "perm")[static_cast<size_t>(axis)];
    return b.transpose(inner->operands[0], std::move(perm));
  }

  ValueId broadcast(const Node& node, Builder& b) {
    if (keeps_type(node)) return node.operands[0];
    const Node* inner = behind(node, Op::broadcast);
    return inner == nullptr ? kNone : b.broadcast(inner->operands[0], type(node.results[0]).dims);
  }

  // Every value of `narrow` is one of `wide`: widening and narrowing again gives it back.
  static bool represents(DType wide, DType narrow) {
    if (is_bool(narrow)) return true;
    if (is_float(narrow)) {
      if (wide == DType::float64) return true;
      return wide == DType::float32 && bits_of(narrow) < 32;
    }
    if (is_float(wide))
      return (wide == DType::float64 && bits_of(narrow) <= 32) ||
             (wide == DType::float32 && bits_of(narrow) <= 16);
    if (is_bool(wide)) return false;
    const bool from_signed = class_of(narrow) == DTypeClass::kSigned,
               to_signed = class_of(wide) == DTypeClass::kSigned;
    return from_signed == to_signed ? bits_of(wide) >= bits_of(narrow)
                                    : to_signed && bits_of(wide) > bits_of(narrow);
  }

  ValueId cast(const Node& node) {
    if (keeps_type(node)) return node.operands[0];
    const Node* inner = behind(node, Op::cast);
    if (inner == nullptr) return kNone;
    const DType from = type(inner->operands[0]).dtype, through = type(node.operands[0]).dtype;
    return from == attr_dtype(node, "to") && represents(through, from) ? inner->operands[0] : kNone;
  }

  ValueId slice(const Node& node) {
    const auto& starts = attr_dims(node, "starts");
    const auto& steps = attr_ints(node, "steps");
    const bool whole =
        keeps_type(node) &&
        std::all_of(starts.begin(), starts.end(), [](const Dim& d) { return d.is_value(0); }) &&
        std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
    return whole ? node.operands[0] : kNone;
  }

  ValueId pad(const Node& node) { return keeps_type(node) ? node.operands[0] : kNone; }

  // One operand is itself; operands with nothing along the axis add nothing.
  ValueId concat(const Node& node, Builder& b) {
    const auto axis = static_cast<size_t>(attr_int(node, "axis"));
    std::vector<ValueId> kept;
    for (const ValueId v : node.operands)
      if (!type(v).dims[axis].is_value(0)) kept.push_back(v);
    if (kept.empty()) kept.push_back(node.operands[0]);
    if (kept.size() == node.operands.size() && kept.size() > 1) return kNone;
    return kept.size() == 1 ? kept[0] : b.op(Op::concat, std::move(kept), node.attrs);
  }

  ValueId dims(const Node& node, Builder& b) {
    const auto values = static_values(attr_dims(node, "values"));
    if (!values) return kNone;
    TensorData data = tensor_of(*values);
    if (attr_int(node, "scalar") != 0) data.dims.clear();
    return b.constant(std::move(data));
  }

  // Over no axis: a sum would turn -0.0 into 0.0.
  ValueId reduce(const Node& node) {
    const std::string kind = attr_string(node, "kind");
    const bool keeps_bits = kind == "max" || kind == "min" || kind == "prod";
    return attr_ints(node, "axes").empty() && keeps_bits ? node.operands[0] : kNone;
  }

  ValueId add(const Node& node) {
    const bool floating = is_float(type(node.results[0]).dtype);
    for (size_t i = 0; i < 2; ++i)
      if (is_uniform(graph_, node.operands[i], floating ? -0.0 : 0)) return node.operands[1 - i];
    return kNone;
  }

  ValueId mul(const Node& node) {
    for (size_t i = 0; i < 2; ++i)
      if (is_uniform(graph_, node.operands[i], 1)) return node.operands[1 - i];
    return kNone;
  }

  ValueId undone(const Node& node) {
    const Node* inner = behind(node, node.op);
    return inner == nullptr ? kNone : inner->operands[0];
  }
  ValueId repeated(const Node& node) { return behind(node, node.op) == nullptr ? kNone : node.operands[0]; }

  ValueId select(const Node& node) {
    if (is_uniform(graph_, node.operands[0], 1)) return node.operands[1];
    if (is_uniform(graph_, node.operands[0], 0)) return node.operands[2];
    return kNone;
  }

  Graph& graph_;
};
}  // namespace

Status simplify(Graph& graph) {
  return Simplifier(graph).run();
}

}  // namespace ge
