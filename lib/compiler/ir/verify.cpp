// The verifier: structure first, because the other rules read through it; then types, attributes, contents
// and bodies.
#include "compiler/ir/verify.h"

#include <algorithm>
#include <set>

#include "compiler/ir/infer.h"

namespace ge {

namespace {
class Verifier {
 public:
  Verifier(const Graph& graph, const Graph& outermost, bool core_only, ErrorList& errors)
      : graph_(graph), outermost_(outermost), core_only_(core_only), errors_(errors) {}

  void run() {
    const size_t before = errors_.size();
    producers();
    operands();
    uses();
    outputs();
    if (errors_.size() != before) return;  // ids cannot be trusted
    acyclic();
    if (errors_.size() != before) return;
    names();
    contents_sizes();
    if (errors_.size() != before) return;
    for (NodeId id = 0; id < graph_.node_capacity(); ++id)
      if (graph_.node(id).alive) node(graph_.node(id));
  }

 private:
  void violated(std::string_view rule, const std::string& what, const Node* node = nullptr) {
    Diagnostic d = fail(Code::verify_failed).say("[" + std::string(rule) + "] " + what);
    if (node != nullptr && !node->sources.empty()) {
      d.path = node->sources.front().path;
      d.place = node->sources.front().place;
    }
    errors_.add(std::move(d));
  }

  std::string value_text(ValueId v) const {
    if (v == kNone) return "nothing";
    if (v < graph_.value_capacity() && !graph_.value(v).name.empty()) return "%" + graph_.value(v).name;
    return "value " + std::to_string(v);
  }
  std::string node_text(const Node& n) const {
    return std::string(name_of(n.op)) + (n.results.empty() ? "" : " that gives " + value_text(n.results[0]));
  }

  void producers() {
    std::vector<bool> made(graph_.value_capacity(), false);
    for (const ValueId v : graph_.inputs) {
      if (v >= made.size() || made[v] || !graph_.value(v).alive || graph_.value(v).producer != kNone) {
        violated("single-producer",
                 "input " + value_text(v) + " is listed twice, removed, or made by a node");
      } else {
        made[v] = true;
      }
    }
    for (NodeId id = 0; id < graph_.node_capacity(); ++id) {
      const Node& n = graph_.node(id);
      if (!n.alive) continue;
      for (uint32_t i = 0; i < n.results.size(); ++i) {
        const ValueId v = n.results[i];
        if (v >= made.size() || made[v] || !graph_.value(v).alive || graph_.value(v).producer != id ||
            graph_.value(v).result_index != i) {
          violated("single-producer",
                   value_text(v) + " is not made by " + std::string(name_of(n.op)) + " alone", &n);
        } else {
          made[v] = true;
        }
      }
    }
    made_ = std::move(made);
  }

  bool defined(ValueId v) const { return v < made_.size() && made_[v]; }

  void operands() {
    for (NodeId id = 0; id < graph_.node_capacity(); ++id) {
      const Node& n = graph_.node(id);
      if (!n.alive) continue;
      for (size_t i = 0; i < n.operands.size(); ++i)
        if (n.operands[i] != kNone && !defined(n.operands[i])) {
          violated("operands-defined",
                   "operand " + std::to_string(i) + " of the " + node_text(n) + " is not defined", &n);
        }
    }
    for (const ValueId v : graph_.outputs)
      if (!defined(v)) violated("operands-defined", "output " + value_text(v) + " is not defined");
  }

  using UseRow = std::tuple<ValueId, NodeId, uint32_t>;
  void uses() {
    std::vector<UseRow> real, recorded;
    for (NodeId id = 0; id < graph_.node_capacity(); ++id) {
      const Node& n = graph_.node(id);
      if (!n.alive) continue;
      for (uint32_t i = 0; i < n.operands.size(); ++i)
        if (n.operands[i] != kNone) real.emplace_back(n.operands[i], id, i);
    }
    for (uint32_t i = 0; i < graph_.outputs.size(); ++i) real.emplace_back(graph_.outputs[i], kNone, i);
    for (ValueId v = 0; v < graph_.value_capacity(); ++v)
      for (const Graph::Use& use : graph_.uses(v)) recorded.emplace_back(v, use.node, use.operand);
    std::sort(real.begin(), real.end());
    std::sort(recorded.begin(), recorded.end());
    if (real == recorded) return;
    std::vector<UseRow> difference;
    std::set_symmetric_difference(real.begin(), real.end(), recorded.begin(), recorded.end(),
                                  std::back_inserter(difference));
    const ValueId v = std::get<0>(difference.front());
    violated("uses-consistent", "the recorded uses of " + value_text(v) + " are not its real ones");
  }

  void outputs() {
    if (graph_.output_names.size() != graph_.outputs.size()) {
      return violated("outputs-named", "there are " + std::to_string(graph_.outputs.size()) +
                                           " outputs and " + std::to_string(graph_.output_names.size()) +
                                           " names");
    }
    if (&graph_ != &outermost_) return;  // a body's outputs are its node's results
    std::set<std::string> seen;
    for (const std::string& name : graph_.output_names)
      if (name.empty() || !seen.insert(name).second)
        violated("outputs-named", "output name \"" + name + "\" is empty or used twice");
  }

  // order() puts what stands on a cycle, or behind one, last.
  void acyclic() {
    std::vector<bool> seen(graph_.node_capacity(), false);
    std::string cycle;
    int count = 0;
    for (const NodeId id : graph_.order()) {
      const Node& n = graph_.node(id);
      const bool ready = std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) {
        return v == kNone || graph_.value(v).producer == kNone || seen[graph_.value(v).producer];
      });
      if (ready) {
        seen[id] = true;
      } else if (++count <= 8) {
        cycle += (cycle.empty() ? "" : ", ") + node_text(n);
      }
    }
    if (count > 0)
      violated("acyclic", std::to_string(count) + " nodes are on a cycle or behind one: " + cycle +
                              (count > 8 ? ", ..." : ""));
  }

  void names() {
    std::set<std::string> seen;
    for (ValueId v = 0; v < graph_.value_capacity(); ++v) {
      const std::string& name = graph_.value(v).name;
      if (graph_.value(v).alive && !name.empty() && !seen.insert(name).second)
        violated("unique-names", "two values are called %" + name);
    }
  }

  void node(const Node& n) {
    if (n.op == Op::onnx) {
      if (core_only_)
        violated("no-onnx", "the operator " + (n.onnx ? n.onnx->type : std::string("?")) + " is left", &n);
      return;
    }
    if (n.body != nullptr) {
      Verifier(*n.body, outermost_, true, errors_).run();
      if (!signature(n)) return;
    }
    types(n);
  }

  bool signature(const Node& n) {
    const Graph& body = *n.body;
    bool same = n.op == Op::fused && body.inputs.size() == n.operands.size() &&
                body.outputs.size() == n.results.size();
    for (size_t i = 0; same && i < n.operands.size(); ++i)
      same = n.operands[i] != kNone && body.type(body.inputs[i]) == graph_.type(n.operands[i]);
    for (size_t i = 0; same && i < n.results.size(); ++i)
      same = body.type(body.outputs[i]) == graph_.type(n.results[i]);
    if (!same)
      violated("body-signature", "the body's inputs and outputs are not those of the " + node_text(n), &n);
    return same;
  }

  void types(const Node& n) {
    std::vector<Graph::Assertion> needed;
    const auto inferred = infer_node(graph_, n, &needed);
    if (!inferred.ok()) {
      const Diagnostic& d = inferred.error().first();
      const bool attribute = d.code == Code::unknown_attribute || d.code == Code::wrong_attribute_type ||
                             d.code == Code::missing_attribute || d.code == Code::bad_attribute;
      return violated(attribute ? "known-attributes" : "types-inferred", node_text(n) + ": " + d.found, &n);
    }
    if (inferred->size() != n.results.size()) {
      return violated("types-inferred",
                      node_text(n) + " has " + std::to_string(n.results.size()) + " results; it gives " +
                          std::to_string(inferred->size()),
                      &n);
    }
    for (size_t i = 0; i < n.results.size(); ++i)
      if (!((*inferred)[i] == graph_.type(n.results[i]))) {
        return violated("types-inferred",
                        node_text(n) + " is " + to_string((*inferred)[i]) + ", stated as " +
                            to_string(graph_.type(n.results[i])),
                        &n);
      }
    for (const Graph::Assertion& a : needed)
      if (!outermost_.asserts(a)) {
        violated("types-inferred",
                 node_text(n) + " needs the assertion " + a.lhs.to_string() + " == " + a.rhs.to_string(), &n);
      }
    contents(n);
  }

  // Before any rule reads them: as many known elements as the type has.
  void contents_sizes() {
    for (ValueId v = 0; v < graph_.value_capacity(); ++v) {
      const auto& stated = graph_.value(v).contents;
      if (!stated || !graph_.value(v).alive) continue;
      if (static_values(graph_.type(v).dims) &&
          product(graph_.type(v).dims).is_value(static_cast<int64_t>(stated->size())))
        continue;
      violated("contents-match", value_text(v) + " has " + std::to_string(stated->size()) +
                                     " known elements; its type is " + to_string(graph_.type(v)));
    }
  }

  void contents(const Node& n) {
    if (n.results.size() != 1 || !graph_.value(n.results[0]).contents) return;
    const auto inferred = infer_contents(graph_, n);
    if (inferred && !(*inferred == *graph_.value(n.results[0]).contents)) {
      violated("contents-match",
               node_text(n) + " holds " + to_string(*inferred) + ", stated as " +
                   to_string(*graph_.value(n.results[0]).contents),
               &n);
    }
  }

  const Graph& graph_;
  const Graph& outermost_;
  bool core_only_;
  ErrorList& errors_;
  std::vector<bool> made_;
};
}  // namespace

Status verify(const Graph& graph, bool core_only) {
  ErrorList errors;
  Verifier(graph, graph, core_only, errors).run();
  return errors.take();
}

}  // namespace ge
