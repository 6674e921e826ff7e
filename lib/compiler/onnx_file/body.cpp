// Inputs, initializers, nodes and outputs; functions are inlined on the way.
#include "compiler/onnx_file/body.h"

#include <algorithm>
#include <set>

#include "compiler/ir/onnx_dtype.h"
#include "compiler/ir/opset.h"
#include "compiler/source/body_reader.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/unfolding.h"

namespace ge::onnx_wire {

bool ReadState::pay(uint64_t bytes) {
  if (unfolded_left >= 0 && bytes <= static_cast<uint64_t>(unfolded_left)) {
    unfolded_left -= static_cast<int64_t>(bytes);
    return true;
  }
  if (unfolded_left >= 0)
    errors.add(fault(Code::document_limit, "the model's functions and subgraphs unfold to too much", "")
                   .because("inlined, and with what they use of the graphs around them, they take more "
                            "memory than is allowed beside the file"));
  unfolded_left = -1;
  gave_up = true;
  return false;
}

ge::Graph BodyBuilder::read(const onnx_wire::Graph& graph, const Opsets& opsets) {
  root_.opsets = &opsets;
  root_.attributes = outer_scope_ ? outer_scope_->attributes : nullptr;
  if (outer_) root_.prefix = outer_scope_->prefix;
  root_.around = outer_scope_;
  if (!outer_) graph_.name = printable(graph.name());
  read_inputs(graph);
  read_initializers(graph);
  scan_nodes(graph.node(), root_);
  for (const Pending& p : pending_) {
    if (state_.gives_up()) break;
    finish_node(p);
  }
  for (const PassedThrough& p : passed_) {
    if (state_.gives_up()) break;
    const ValueId value = resolve(p.name, *p.inner, {path_, "/nodes"});
    if (value != kNone) graph_.set_operand(p.id, 0, value);
  }
  read_outputs(graph);
  if (!outer_) read_declared(graph);
  tell_cycles(graph_, state_.errors);
  return std::move(graph_);
}

void BodyBuilder::define(std::string_view raw, ValueId value, Scope& scope, const Place& what) {
  if (raw.empty()) return;
  const bool is_input = scope.function && scope.function->inputs.contains(raw);
  const bool is_new = !is_input && scope.names.try_emplace(raw, value).second;
  if (!is_new || (!scope.function && outer_ && outer_->sees(raw, *outer_scope_))) {
    state_.errors.add(
        state_.fault(Code::duplicate_name, "value '" + printable(raw) + "' is defined twice", what.text())
            .because("names of inputs, initializers and node outputs are unique")
            .try_("export the model again, or rename one of them"));
  }
  std::string name = scope.prefix + printable(raw);
  if (scope.depth > 0 && !state_.pay(2 * name.size())) return;
  graph_.value(value).name = state_.values.unique(name);
}

void BodyBuilder::read_inputs(const onnx_wire::Graph& graph) {
  std::set<std::string_view> initialized;
  for (const Tensor& t : graph.initializer()) initialized.insert(t.name());
  int index = 0;
  for (const ValueInfo& info : graph.input()) {
    const Place what{path_, "/inputs/", index++};
    if (root_.depth > 0 && !state_.pay(unfolded::kResult + info.bytes().size())) return;
    if (state_.gives_up()) return;
    if (initialized.contains(info.name())) continue;  // the initializer is its default, and its value
    if (info.name().empty()) {
      state_.errors.add(state_.fault(Code::missing_key, "an input has no name", what.text()));
      continue;
    }
    const auto type = tensor_type(info, outer_ == nullptr, what);
    define(info.name(), graph_.add_input("", type.value_or(Type{})), root_, what);
  }
}

void BodyBuilder::read_initializers(const onnx_wire::Graph& graph) {
  const int64_t count = graph.initializer().size();
  if (count > state_.nodes_left) {
    state_.errors.add(
        state_.fault(Code::document_limit, "too many initializers", path_ + "/initializers")
            .because("found " + std::to_string(count) + ", allowed " + std::to_string(state_.nodes_left)));
    state_.gave_up = true;
    return;
  }
  int64_t index = 0;
  for (const Tensor& tensor : graph.initializer()) {
    if (state_.gives_up()) break;
    const Place what{path_, "/initializers/", index++};
    const std::string_view raw = tensor.name();
    if (root_.depth > 0 &&
        !state_.pay(unfolded::kNode + unfolded::kResult + path_.size() + state_.file.size() + 5 * raw.size() +
                    unfolded::kField * tensor.field_count()))
      break;
    if (raw.empty()) {
      state_.errors.add(state_.fault(Code::missing_key, "an initializer has no name", what.text()));
      continue;
    }
    auto data = state_.tensors.read(tensor);
    if (!data.ok()) {
      Error error = std::move(data).take_error();
      for (Diagnostic& d : error.list()) {
        if (d.message.empty()) d.message = title_of(d.code);
        d.message = "initializer '" + printable(raw) + "': " + d.message;
        d.place = state_.file;
        d.path = what.text();
      }
      state_.errors.add(std::move(error));
    }
    const TensorData stand_in{DType::float32, {0}, std::make_shared<const ByteBuffer>(), false, nullptr};
    const ValueId value =
        graph_.add_constant(data.ok() ? *data : stand_in, {Source{what.text(), state_.file, printable(raw)}});
    define(raw, value, root_, what);
  }
  index = 0;
  for (const SparseTensor& sparse : graph.sparse_initializer()) {
    if (state_.gives_up()) break;
    const std::string name = printable(sparse.values().name());
    state_.errors.add(state_
                          .fault(Code::unsupported_feature,
                                 "sparse initializer '" + name + "' is not supported",
                                 path_ + "/sparse_initializers/" + std::to_string(index++))
                          .try_("store it as a dense initializer"));
    define(sparse.values().name(), graph_.add_input(name, Type{}), root_, {path_, ""});
  }
}

template <class Nodes>
void BodyBuilder::scan_nodes(const Nodes& nodes, Scope& scope) {
  const auto count = static_cast<int64_t>(nodes.size());
  if (count > state_.nodes_left) {
    if (!state_.gave_up) {
      state_.errors.add(state_.fault(Code::document_limit, "too many nodes", path_ + "/nodes")
                            .because("more than allowed are there when the model's functions are inlined"));
    }
    state_.gave_up = true;
    return;
  }
  state_.nodes_left -= count;
  size_t index = 0;
  for (const Node& node : nodes) {
    if (state_.gives_up()) break;
    scan_node(NodeParts(node), scope, index++);
  }
}

bool BodyBuilder::pay_for(const NodeParts& node, const Scope& scope) {
  if (scope.depth == 0) return true;  // as often as in the file
  const auto count = [](int64_t n) { return static_cast<uint64_t>(n); };
  return state_.pay(unfolded::kNode + path_.size() + state_.file.size() + 2 * scope.prefix.size() +
                    unfolded::kResult * count(node.results) + unfolded::kOperand * count(node.inputs) +
                    unfolded::kField * node.fields + 5 * node.text_bytes);
}

void BodyBuilder::scan_node(const NodeParts& node, Scope& scope, size_t index) {
  if (!pay_for(node, scope)) return;
  std::string name = scope.prefix + printable(node.name);
  if (FunctionUse* function = state_.functions.find(node)) {
    if (node.name.empty()) name += printable(node.op_type) + "." + std::to_string(index);
    return inline_call(*function, node, scope, name);
  }
  if (!node.name.empty()) name = state_.nodes.unique(name);
  if (node.name.empty()) name.clear();
  const Place what{path_, "/nodes/", node_count_};
  if (node.results == 0) {  // nothing can use it, and a node of five bytes would be hundreds here
    state_.errors.add(state_.fault(Code::missing_key, "a node has no outputs", what.text()));
    ++node_count_;
    return;
  }
  if (node.op_type.empty())
    state_.errors.add(state_.fault(Code::missing_key, "a node names no operator", what.text()));
  const std::string domain = canonical_domain(node.domain);
  const auto version = scope.opsets->find(domain);
  if (version == scope.opsets->end() && domain.empty())
    state_.errors.add(
        state_.fault(Code::missing_key, "the model says no opset version of ai.onnx", what.text()));
  const int number = version == scope.opsets->end() ? 1 : version->second;
  const NodeId id =
      add_node({domain, printable(node.op_type), number}, name, static_cast<size_t>(node.results));
  define_results(node.node, id, scope);
  pending_.push_back({id, node.node, &scope});
}

NodeId BodyBuilder::add_node(const OnnxName& name, const std::string& node_name, size_t results) {
  const std::string path = path_ + "/nodes/" + std::to_string(node_count_++);
  const NodeId id =
      graph_.add_node(Op::onnx, {}, std::vector<Type>(results), {}, {Source{path, state_.file, node_name}});
  graph_.node(id).onnx = std::make_unique<OnnxName>(name);
  return id;
}

void BodyBuilder::define_results(const Node& node, NodeId id, Scope& scope) {
  const std::string& path = graph_.node(id).sources.front().path;
  size_t i = 0;
  for (const std::string_view name : node.output()) {
    if (i == graph_.node(id).results.size()) break;  // absent ones
    define(name, graph_.node(id).results[i], scope, {path, "/outputs/", static_cast<int64_t>(i)});
    ++i;
  }
}

// Faults of a call that make it no call.
bool BodyBuilder::may_call(const FunctionUse& function, const CallUse& call, const NodeParts& node,
                           const Scope& scope, const std::string& name) {
  const auto refuse = [&](Code code, const std::string& what, const std::string& found) {
    const std::string label = "function " + printable(function.name) + " '" + name + "'";
    state_.errors.add(
        state_.fault(code, label + what, path_ + "/nodes/" + std::to_string(node_count_)).because(found));
    return false;
  };
  for (const Scope* s = &scope; s; s = s->outside()) {
    if (s->function != &function) continue;
    std::string chain = printable(function.name);
    for (const Scope* at = &scope; at != s; at = at->outside())
      if (at->function) chain = printable(at->function->name) + " -> " + chain;
    return refuse(Code::graph_cycle, " calls itself", printable(function.name) + " -> " + chain);
  }
  if (scope.depth >= kMaxCallDepth)
    return refuse(Code::document_limit, ": functions call functions too deep",
                  "allowed " + std::to_string(kMaxCallDepth) + " levels");
  if (node.inputs > function.input_count || call.outputs.size() > function.outputs.size())
    return refuse(Code::operand_count, ": wrong number of inputs or outputs",
                  "found " + std::to_string(node.inputs) + " and " + std::to_string(node.outputs) +
                      ", allowed up to " + std::to_string(function.input_count) + " and " +
                      std::to_string(function.outputs.size()));
  return true;
}

namespace {

// Told once, at the function's first call.
const Opsets* opsets_of(FunctionUse& function, ReadState& state) {
  if (function.opsets_read) return function.opsets ? &*function.opsets : nullptr;
  function.opsets_read = true;
  Opsets opsets;
  for (const OperatorSet& set : function.opset_imports) {
    const int64_t version = set.version();
    const std::string domain = canonical_domain(set.domain());
    if (version < 1 || version > INT32_MAX || (domain.empty() && version > kNewestOpset)) {
      state.errors.add(state
                           .fault(Code::unsupported_op_version,
                                  "function " + printable(function.name) + ": opset is not supported", "")
                           .because("found " + std::to_string(version) + " of " +
                                    (domain.empty() ? "ai.onnx" : printable(domain)) + ", allowed 1 .. " +
                                    std::to_string(kNewestOpset)));
      return nullptr;
    }
    opsets[domain] = static_cast<int>(version);
  }
  return &function.opsets.emplace(std::move(opsets));
}

}  // namespace

void BodyBuilder::inline_call(FunctionUse& function, const NodeParts& node, Scope& scope,
                              const std::string& name) {
  if (!state_.pay(unfolded::kBody + name.size() + unfolded::kField * node.fields)) return;
  const CallUse& call = state_.functions.call(node.node);
  if (!may_call(function, call, node, scope, name)) return;
  const Opsets* opsets = opsets_of(function, state_);
  if (!opsets) return;
  Scope& inner = *calls_.emplace_back(std::make_unique<Scope>());
  inner.caller = &scope;
  inner.function = &function;
  inner.call = &call;
  inner.attributes = &inner;
  inner.opsets = opsets;
  inner.prefix = name + "/";
  inner.depth = scope.depth + 1;
  scan_nodes(function.nodes, inner);
  bind_outputs(function, call, scope, inner, name);
}

// What the call's outputs name is what the function's nodes made; where no node made it, a copy.
void BodyBuilder::bind_outputs(const FunctionUse& function, const CallUse& call, Scope& scope,
                               const Scope& inner, const std::string& name) {
  std::set<ValueId> bound;
  for (size_t i = 0; i < call.outputs.size() && !state_.gives_up(); ++i) {
    if (call.outputs[i].empty()) continue;
    const std::string_view formal = function.outputs[i];
    const auto made = inner.names.find(formal);
    ValueId value = made == inner.names.end() ? kNone : made->second;
    if (value == kNone || !bound.insert(value).second) {
      if (!state_.pay(unfolded::kNode + unfolded::kResult + unfolded::kOperand + path_.size() +
                      state_.file.size() + 3 * name.size() + formal.size()))
        return;
      const auto version = root_.opsets->find("");
      const NodeId id = add_node({"", "Identity", version == root_.opsets->end() ? 1 : version->second},
                                 state_.nodes.unique(name), 1);
      graph_.node(id).operands = {kNone};
      passed_.push_back({id, &inner, formal});
      value = graph_.node(id).results[0];
    }
    define(call.outputs[i], value, scope, {path_, "/nodes/", node_count_});
  }
}

void BodyBuilder::finish_node(const Pending& pending) {
  read_attributes(pending.node, pending.id, *pending.scope);
  const std::string& path = graph_.node(pending.id).sources.front().path;
  graph_.node(pending.id).operands.assign(static_cast<size_t>(pending.node.input().size()), kNone);
  uint32_t i = 0;
  for (const std::string_view name : pending.node.input()) {
    const uint32_t at = i++;
    if (name.empty()) continue;
    const ValueId value = resolve(name, *pending.scope, {path, "/inputs/", at});
    if (value != kNone) graph_.set_operand(pending.id, at, value);
  }
  append_captures(
      graph_, pending.id, subgraphs_, [&](const std::string& name) { return outer_names_.at(name); },
      [&](uint64_t bytes) { return state_.pay(bytes); });
  subgraphs_.clear();
}

bool BodyBuilder::sees(std::string_view name, const Scope& scope) const {
  if (scope.names.contains(name) || (scope.function && scope.function->inputs.contains(name))) return true;
  return !scope.function && outer_ && outer_->sees(name, *outer_scope_);
}

ValueId BodyBuilder::resolve(std::string_view name, const Scope& scope, const Place& what) {
  const auto at = scope.names.find(name);
  if (at != scope.names.end()) return at->second;
  if (scope.function) {
    const auto input = scope.function->inputs.find(name);
    if (input != scope.function->inputs.end()) return resolve_input(input->second, scope, what);
  }
  if (!scope.function && outer_ && outer_->sees(name, *outer_scope_)) {
    const ValueId value = outer_->resolve(name, *outer_scope_, what);
    return value == kNone ? kNone : capture(value);
  }
  tell_undefined(name, what);
  return kNone;
}

// A function's input: what its caller gives; "" is absent. Looked up once for each call.
ValueId BodyBuilder::resolve_input(uint32_t index, const Scope& scope, const Place& what) {
  if (index >= scope.call->inputs.size() || scope.call->inputs[index].empty()) return kNone;
  const auto known = scope.given.find(index);
  if (known != scope.given.end()) return known->second;
  const ValueId value = resolve(scope.call->inputs[index], *scope.caller, what);
  if (value != kNone) scope.given.emplace(index, value);
  return value;
}

ValueId BodyBuilder::capture(ValueId outer_value) {
  const auto at = captured_.find(outer_value);
  if (at != captured_.end()) return at->second;
  const std::string& name = outer_->graph_.value(outer_value).name;
  if (!state_.pay(unfolded::kCapture + 5 * name.size())) return kNone;
  const ValueId value = graph_.add_input(name, Type{});
  captures_.push_back(name);
  outer_->outer_names_[name] = outer_value;
  captured_.emplace(outer_value, value);
  return value;
}

void BodyBuilder::tell_undefined(std::string_view name, const Place& what) {
  if (state_.gives_up()) return;
  std::string near;
  if (state_.suggestions_left-- > 0) {
    std::vector<std::string> known;
    for (const auto& [raw, binding] : root_.names) known.push_back(printable(raw));
    std::sort(known.begin(), known.end());  // the same suggestion everywhere
    near = nearest(printable(name), known);
  }
  state_.errors.add(
      state_.fault(Code::undefined_value, "value '" + printable(name) + "' is not defined", what.text())
          .because("no input, initializer or node output has this name")
          .try_(near.empty() ? "" : "did you mean '" + near + "'?"));
}

void BodyBuilder::read_outputs(const onnx_wire::Graph& graph) {
  if (graph.output().begin() == std::default_sentinel)
    state_.errors.add(state_.fault(Code::missing_key, "the graph has no outputs", path_ + "/outputs"));
  std::set<std::string_view> seen;
  int64_t index = 0;
  for (const ValueInfo& output : graph.output()) {
    if (state_.gives_up()) return;
    if (root_.depth > 0 && !state_.pay(unfolded::kOperand + 4 * output.bytes().size())) return;
    const Place what{path_, "/outputs/", index++};
    const std::string_view name = output.name();
    if (!seen.insert(name).second) {
      state_.errors.add(
          state_.fault(Code::duplicate_name, "output '" + printable(name) + "' stands twice", what.text()));
      continue;
    }
    const ValueId value = resolve(name, root_, what);
    if (value == kNone) continue;
    graph_.add_output(value, outer_ ? graph_.value(value).name : printable(name));
  }
}

}  // namespace ge::onnx_wire
