// Walks the graph once, lowering each ONNX node and collecting every fault.
#include "compiler/onnx_ops/lower.h"
#include "contract/tensor_view.h"

#include <algorithm>
#include <set>

#include "base/checked_math.h"
#include "compiler/onnx_ops/checks.h"
#include "compiler/onnx_ops/known_branch.h"
#include "compiler/onnx_ops/known_number.h"
#include "compiler/onnx_ops/op_context.h"
#include "numeric/convert.h"

namespace ge {
namespace {

class Lowering {
 public:
  explicit Lowering(Graph& graph) : graph_(graph) {}

  Status run() {
    for (const NodeId id : graph_.order()) lower_or_know(id);
    check_assertions();
    forget_guesses();
    return errors_.take();
  }

 private:
  void lower_or_know(NodeId id) {
    if (is_if(graph_.node(id)))
      take_branch(id);
    else if (graph_.node(id).op == Op::onnx)
      lower_node(id);
    if (graph_.node(id).op == Op::constant) know_contents(id);
  }

  // The branch's nodes are lowered where the If stands; its results are theirs.
  void take_branch(NodeId id) {
    for (const ValueId v : graph_.node(id).operands) {
      if (v == kNone || !faulty_.contains(v)) continue;
      for (const ValueId result : graph_.node(id).results) faulty_.insert(result);
      return;
    }
    auto branch = inline_known_branch(graph_, id);
    if (!branch.ok()) {
      errors_.add(std::move(branch).take_error());
      for (const ValueId v : graph_.node(id).results) faulty_.insert(v);
      return;
    }
    // What the branch gives stands for the If's results before it is lowered: lowering replaces both.
    const std::vector<ValueId> results = graph_.node(id).results;
    for (size_t i = 0; i < results.size(); ++i) {
      rename(results[i], branch->outputs[i]);
      graph_.replace_all_uses(results[i], branch->outputs[i]);
    }
    graph_.remove_node(id);
    for (const NodeId inner : branch->nodes) lower_or_know(inner);
  }

  // Sizes that exporters computed in floating point (Shape -> Cast -> Div -> Floor -> Cast) under fixed dims.
  void know_number(ValueId value) {
    ValueInfo& info = graph_.value(value);
    if (info.contents || (info.type.dtype != DType::int64 && info.type.dtype != DType::int32)) return;
    if (const auto number = known_number(graph_, value)) {
      info.contents = Dims{Dim(saturate_to<int64_t>(*number))};
      knows_numbers_ = true;
    }
  }

  // Contents are what core ops tell, so that a graph and its printed form compile alike: numbers that came by
  // floating point have served.
  void forget_guesses() {
    if (!knows_numbers_ || !errors_.empty()) return;
    for (const NodeId id : graph_.order())
      for (const ValueId v : graph_.node(id).results)
        graph_.value(v).contents = infer_contents(graph_, graph_.node(id));
  }

  // Shapes and axes in initializers are what shape arithmetic starts from.
  void know_contents(NodeId id) {
    const ValueId value = graph_.node(id).results[0];
    if (!graph_.value(value).contents) graph_.value(value).contents = infer_contents(graph_, graph_.node(id));
  }

  std::string size_text(const Dim& d) const {
    return d.is_static() ? d.to_string() : d.to_string() + ", which is " + d.range_text(graph_.symbols);
  }
  // Sizes that must be equal, and are not for any value of their dims.
  void check_assertions() {
    if (!errors_.empty()) return;
    for (const Graph::Assertion& a : graph_.assertions) {
      if (a.lhs.overflowed() || a.rhs.overflowed()) {
        errors_.add(fail(Code::size_overflow)
                        .say(a.message + ", which overflow")
                        .at(a.source.place)
                        .in(a.source.path));
        continue;
      }
      const SymbolRange difference = (a.lhs - a.rhs).bounds(graph_.symbols);
      if (difference.min <= 0 && difference.max >= 0) continue;
      errors_.add(fail(Code::shape_mismatch)
                      .say(a.message)
                      .at(a.source.place)
                      .in(a.source.path)
                      .because("found " + size_text(a.lhs) + " and " + size_text(a.rhs)));
    }
  }

  // A node whose operand comes from a faulty node is checked as far as it can be without types, and is faulty
  // too.
  void lower_node(NodeId id) {
    const Node& node = graph_.node(id);
    const bool inputs_known = std::none_of(node.operands.begin(), node.operands.end(),
                                           [&](ValueId v) { return v != kNone && faulty_.contains(v); });
    const auto op = operator_of(node);
    ErrorList faults;
    if (!op.ok()) {
      faults.add(op.error());
    } else {
      check_signature(node, **op, faults);
      if (inputs_known && faults.empty()) check_types(graph_, node, **op, faults);
      if (inputs_known && faults.empty()) apply(id, **op, faults);
    }
    if (inputs_known && faults.empty()) return;
    for (const ValueId v : graph_.node(id).results) faulty_.insert(v);
    if (const Status status = faults.take(); !status.ok()) errors_.add(Error(status.error()));
  }

  void apply(NodeId id, const Operator& op, ErrorList& faults) {
    const std::optional<DType> packed = knows_nibbles(op) ? std::nullopt : unpack_operands(id);
    OpContext context(graph_, graph_.node(id), op);
    Results results = op.lower(context);
    if (packed) pack_results(context, *packed, results);
    if (Status status = context.build().take(); !status.ok()) {
      faults.add(placed(graph_.node(id), std::move(status).take_error()));
      return;
    }
    for (const ValueId v : results.values) check_size(graph_.node(id), v, faults);
    if (faults.empty()) replace(id, results.values, faults);
  }

  // 4-bit elements have no address of their own: operators see 8-bit ones, but for those that convert them
  // and those that only name their shape.
  static bool knows_nibbles(const Operator& op) {
    static constexpr std::string_view kNames[] = {
        "Cast",    "CastLike", "QuantizeLinear", "DequantizeLinear", "Identity", "Reshape",
        "Flatten", "Squeeze",  "Unsqueeze",      "Transpose",        "Shape",    "Size",
    };
    return std::find(std::begin(kNames), std::end(kNames), op.row->name) != std::end(kNames);
  }
  // The 4-bit type among the operands, which are 8-bit now; nullopt where there is none.
  std::optional<DType> unpack_operands(NodeId id) {
    std::optional<DType> packed;
    for (uint32_t i = 0; i < graph_.node(id).operands.size(); ++i) {
      const ValueId v = graph_.node(id).operands[i];
      if (v == kNone || bits_of(graph_.type(v).dtype) >= 8) continue;
      packed = graph_.type(v).dtype;
      graph_.set_operand(id, i, Builder(graph_, graph_.node(id).sources).cast(v, unpacked(*packed)));
    }
    return packed;
  }
  static void pack_results(OpContext& context, DType packed, Results& results) {
    if (context.failed()) return;
    for (ValueId& v : results.values)
      if (v != kNone && context.dtype(v) == unpacked(packed)) v = context.build().cast(v, packed);
  }

  // Builder and inference know no places: what they say gets the node's.
  static Error placed(const Node& node, Error error) {
    for (Diagnostic& d : error.list()) {
      const std::string label = node_label(node) + ": ";
      if (d.message.empty()) d.message = title_of(d.code);
      const size_t colon = d.message.find(": ");  // the core op's name means nothing to the user
      if (colon != std::string::npos && op_from_name(d.message.substr(0, colon)))
        d.message.erase(0, colon + 2);
      if (!d.message.starts_with(label)) d.message = label + d.message;
      if (d.path.empty()) d.path = pointer_below(node, "");
      if (d.place.empty()) d.place = place_of(node);
    }
    return error;
  }

  void check_size(const Node& node, ValueId value, ErrorList& faults) {
    if (value == kNone) return;
    const Type& type = graph_.type(value);
    const auto about = [&](Code code, const std::string& message) {
      return fail(code).say(node_label(node) + ": " + message).at(place_of(node)).in(pointer_below(node, ""));
    };
    if (type.dims.size() > static_cast<size_t>(kMaxRank)) {
      faults.add(about(Code::unsupported_feature, "a result has too many dims")
                     .because("found rank " + std::to_string(type.dims.size()) + ", allowed up to " +
                              std::to_string(kMaxRank)));
    }
    for (size_t axis = 0; axis < type.dims.size(); ++axis) {
      const Dim& d = type.dims[axis];
      if (d.bounds(graph_.symbols).max >= 0) continue;
      faults.add(about(Code::bad_dim, "a size of a result is negative")
                     .because("axis " + std::to_string(axis) + " of " + to_string(type) + " is " +
                              d.range_text(graph_.symbols)));
      return;
    }
    if (size_overflows(type.dims)) {
      faults.add(about(Code::size_overflow, "the size of a result overflows")
                     .because("its type is " + to_string(type)));
    }
  }

  void replace(NodeId id, const std::vector<ValueId>& values, ErrorList& faults) {
    const std::vector<ValueId> old = graph_.node(id).results;
    for (size_t i = 0; i < old.size(); ++i) {
      const ValueId value = i < values.size() ? values[i] : kNone;
      if (value == kNone) {
        if (graph_.use_count(old[i]) == 0) continue;
        faults.add(
            fail(Code::unsupported_feature)
                .say(node_label(graph_.node(id)) + ": output " + std::to_string(i) + " is not supported")
                .at(place_of(graph_.node(id)))
                .in(pointer_below(graph_.node(id), "/outputs/" + std::to_string(i))));
        return;
      }
      know_number(value);
      compare_declared(id, i, value, faults);
      rename(old[i], value);
      graph_.replace_all_uses(old[i], value);
    }
    graph_.remove_node(id);
  }

  // What the model says of a result, beside what inference says. Another dtype is a fault; another shape is
  // noted: exporters leave shapes behind that once were true.
  void compare_declared(NodeId id, size_t output, ValueId value, ErrorList& faults) {
    const ValueInfo& old = graph_.value(graph_.node(id).results[output]);
    if (!old.declared) return;
    const Type& type = graph_.type(value);
    const std::string label = node_label(graph_.node(id)) + ": output '" + old.name + "' ";
    if (old.declared->dtype && *old.declared->dtype != type.dtype) {
      faults.add(fail(Code::dtype_mismatch)
                     .say(label + "is declared with another dtype than it has")
                     .at(place_of(graph_.node(id)))
                     .in(pointer_below(graph_.node(id), "/outputs/" + std::to_string(output)))
                     .because("declared " + std::string(name_of(*old.declared->dtype)) + ", inferred " +
                              std::string(name_of(type.dtype)))
                     .try_("remove the declaration (value_info), or export the model again"));
    }
    if (!old.declared->dims || !contradicts(*old.declared->dims, type.dims)) return;
    std::string declared;
    for (const int64_t d : *old.declared->dims)
      declared += (declared.empty() ? "" : ", ") + (d < 0 ? std::string("?") : std::to_string(d));
    graph_.notes.push_back(label + "is declared as [" + declared + "], inferred as " + to_string(type.dims) +
                           "; the latter is used");
  }
  static bool contradicts(const std::vector<int64_t>& declared, const Dims& inferred) {
    if (declared.size() != inferred.size()) return true;
    for (size_t i = 0; i < declared.size(); ++i)
      if (declared[i] >= 0 && Dim::never_equal(Dim(declared[i]), inferred[i])) return true;
    return false;
  }

  // The model's name moves to the value that stands for it now, unless that has one of its own.
  void rename(ValueId from, ValueId to) {
    if (graph_.value(to).name.empty()) {
      graph_.value(to).name = std::move(graph_.value(from).name);
      graph_.value(from).name.clear();
    }
  }

  Graph& graph_;
  ErrorList errors_;
  std::set<ValueId> faulty_;
  bool knows_numbers_ = false;  // some contents are of know_number
};

}  // namespace

Status lower_onnx(Graph& graph) {
  return Lowering(graph).run();
}

}  // namespace ge
