// Inputs, initializers, nodes and outputs; functions are inlined on the way.
#include "compiler/onnx_file/body.h"

#include <algorithm>
#include <set>

#include "compiler/ir/onnx_dtype.h"
#include "compiler/source/body_reader.h"
#include "compiler/source/graph_json.h"

namespace ge::onnx_wire {
namespace {

// Outputs up to the last that has a name, and no more than there are operators with: 0 where none has one, or
// where far more are absent than named.
int64_t result_count(const Node& node) {
  static constexpr int64_t kMostAbsent = 100;
  int64_t count = 0, last = 0, named = 0;
  for (const std::string_view name : node.output()) {
    ++count;
    if (name.empty()) continue;
    ++named;
    last = count;
  }
  return last - named > kMostAbsent ? 0 : last;
}

}  // namespace

ge::Graph BodyBuilder::read(const onnx_wire::Graph& graph, const Opsets& opsets) {
  root_.opsets = &opsets;
  root_.attributes = outer_scope_ ? outer_scope_->attributes : nullptr;
  if (outer_) root_.prefix = outer_scope_->prefix;
  if (!outer_) graph_.name = printable(graph.name());
  read_inputs(graph);
  read_initializers(graph);
  scan_nodes(graph.node(), root_);
  for (const Pending& p : pending_) finish_node(p);
  for (const PassedThrough& p : passed_) {
    const ValueId value = resolve(p.name, *p.inner, path_ + "/nodes");
    if (value != kNone) graph_.set_operand(p.id, 0, value);
  }
  read_outputs(graph);
  if (!outer_) read_declared(graph);
  tell_cycles(graph_, state_.errors);
  return std::move(graph_);
}

void BodyBuilder::define(std::string_view raw, ValueId value, Scope& scope, const std::string& what) {
  if (raw.empty()) return;
  const bool is_new = scope.names.try_emplace(raw, Scope::Binding{value, {}}).second;
  if (!is_new || (!scope.function && outer_ && outer_->sees(raw, *outer_scope_))) {
    state_.errors.add(
        state_.fault(Code::duplicate_name, "value '" + printable(raw) + "' is defined twice", what)
            .because("names of inputs, initializers and node outputs are unique")
            .try_("export the model again, or rename one of them"));
  }
  graph_.value(value).name = state_.values.unique(printable(scope.prefix + std::string(raw)));
}

void BodyBuilder::read_inputs(const onnx_wire::Graph& graph) {
  std::set<std::string_view> initialized;
  for (const Tensor& t : graph.initializer()) initialized.insert(t.name());
  int index = 0;
  for (const ValueInfo& info : graph.input()) {
    const std::string what = path_ + "/inputs/" + std::to_string(index++);
    if (initialized.contains(info.name())) continue;  // the initializer is its default, and its value
    if (info.name().empty()) {
      state_.errors.add(state_.fault(Code::missing_key, "an input has no name", what));
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
    const std::string what = path_ + "/initializers/" + std::to_string(index++);
    if (tensor.name().empty()) {
      state_.errors.add(state_.fault(Code::missing_key, "an initializer has no name", what));
      continue;
    }
    auto data = state_.tensors.read(tensor);
    if (!data.ok()) {
      Error error = std::move(data).take_error();
      for (Diagnostic& d : error.list()) {
        if (d.message.empty()) d.message = title_of(d.code);
        d.message = "initializer '" + printable(tensor.name()) + "': " + d.message;
        d.place = state_.file;
        d.path = what;
      }
      state_.errors.add(std::move(error));
    }
    const TensorData stand_in{DType::float32, {0}, std::make_shared<const ByteBuffer>(), false, nullptr};
    const std::string name = printable(tensor.name());
    const ValueId value =
        graph_.add_constant(data.ok() ? *data : stand_in, {Source{what, state_.file, name}});
    define(tensor.name(), value, root_, what);
  }
  index = 0;
  for (const SparseTensor& sparse : graph.sparse_initializer()) {
    const std::string name = printable(sparse.values().name());
    state_.errors.add(state_
                          .fault(Code::unsupported_feature,
                                 "sparse initializer '" + name + "' is not supported",
                                 path_ + "/sparse_initializers/" + std::to_string(index++))
                          .try_("store it as a dense initializer"));
    define(sparse.values().name(), graph_.add_input(name, Type{}), root_, path_);
  }
}

void BodyBuilder::scan_nodes(const Repeated<Node>& nodes, Scope& scope) {
  const int64_t count = nodes.size();
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
    scan_node(node, scope, index++);
  }
}

void BodyBuilder::scan_node(const Node& node, Scope& scope, size_t index) {
  std::string name = printable(scope.prefix + std::string(node.name()));
  if (const Function* function = function_of(node)) {
    if (node.name().empty()) name += printable(node.op_type()) + "." + std::to_string(index);
    return inline_call(*function, node, scope, name);
  }
  if (!node.name().empty()) name = state_.nodes.unique(name);
  if (node.name().empty()) name.clear();
  const int64_t results = result_count(node);
  if (results == 0) {  // nothing can use it, and a node of five bytes would be hundreds here
    state_.errors.add(state_.fault(Code::missing_key, "a node has no outputs",
                                   path_ + "/nodes/" + std::to_string(node_count_++)));
    return;
  }
  if (node.op_type().empty()) {
    state_.errors.add(state_.fault(Code::missing_key, "a node names no operator",
                                   path_ + "/nodes/" + std::to_string(node_count_)));
  }
  const std::string domain = canonical_domain(node.domain());
  const auto version = scope.opsets->find(domain);
  if (version == scope.opsets->end() && domain.empty()) {
    state_.errors.add(state_.fault(Code::missing_key, "the model says no opset version of ai.onnx",
                                   path_ + "/nodes/" + std::to_string(node_count_)));
  }
  const int number = version == scope.opsets->end() ? 1 : version->second;
  const NodeId id = add_node({domain, printable(node.op_type()), number}, name, static_cast<size_t>(results));
  define_results(node, id, scope);
  pending_.push_back({id, node, &scope});
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
    define(name, graph_.node(id).results[i], scope, path + "/outputs/" + std::to_string(i));
    ++i;
  }
}

const Function* BodyBuilder::function_of(const Node& node) const {
  if (state_.functions.empty()) return nullptr;
  const auto at = state_.functions.find(function_key(node.domain(), node.op_type(), node.overload()));
  return at == state_.functions.end() ? nullptr : &at->second;
}

void BodyBuilder::inline_call(const Function& function, const Node& node, Scope& scope,
                              const std::string& name) {
  const std::string path = path_ + "/nodes/" + std::to_string(node_count_);
  const std::string label = "function " + printable(function.name()) + " '" + name + "'";
  for (const Scope* s = &scope; s; s = s->caller) {
    if (s->function != &function) continue;
    std::string chain = printable(function.name());
    for (const Scope* at = &scope; at != s; at = at->caller)
      chain = printable(at->function->name()) + " -> " + chain;
    state_.errors.add(state_.fault(Code::graph_cycle, label + " calls itself", path)
                          .because(printable(function.name()) + " -> " + chain));
    return;
  }
  if (scope.depth >= kMaxCallDepth) {
    state_.errors.add(state_.fault(Code::document_limit, label + ": functions call functions too deep", path)
                          .because("allowed " + std::to_string(kMaxCallDepth) + " levels"));
    return;
  }
  const int64_t inputs = node.input().size(), outputs = node.output().size();
  const int64_t most_inputs = function.input().size(), most_outputs = function.output().size();
  if (inputs > most_inputs || outputs > most_outputs) {
    state_.errors.add(state_.fault(Code::operand_count, label + ": wrong number of inputs or outputs", path)
                          .because("found " + std::to_string(inputs) + " and " + std::to_string(outputs) +
                                   ", allowed up to " + std::to_string(most_inputs) + " and " +
                                   std::to_string(most_outputs)));
    return;
  }
  const Opsets* opsets = function_opsets(function);
  if (!opsets) return;
  Scope& inner = *calls_.emplace_back(std::make_unique<Scope>());
  inner.caller = &scope;
  inner.function = &function;
  inner.call = node;
  inner.attributes = &inner;
  inner.opsets = opsets;
  inner.prefix = name + "/";
  inner.depth = scope.depth + 1;
  auto actual = node.input().begin();
  for (const std::string_view formal : function.input()) {
    const bool is_there = actual != std::default_sentinel;
    inner.names.try_emplace(formal, Scope::Binding{kNone, is_there ? *actual : std::string_view()});
    if (is_there) ++actual;
  }
  scan_nodes(function.node(), inner);
  bind_outputs(function, node, scope, inner, name);
}

// What the call's outputs name is what the function's nodes made; where no node made it, a copy.
void BodyBuilder::bind_outputs(const Function& function, const Node& node, Scope& scope, const Scope& inner,
                               const std::string& name) {
  const std::string path = path_ + "/nodes/" + std::to_string(node_count_);
  std::set<ValueId> bound;
  auto next = function.output().begin();
  for (const std::string_view raw : node.output()) {
    const std::string_view formal = *next;
    ++next;
    if (raw.empty()) continue;
    const auto made = inner.names.find(formal);
    ValueId value = made == inner.names.end() ? kNone : made->second.value;
    if (value == kNone || !bound.insert(value).second) {
      const auto version = root_.opsets->find("");
      const NodeId id = add_node({"", "Identity", version == root_.opsets->end() ? 1 : version->second},
                                 state_.nodes.unique(name), 1);
      graph_.node(id).operands = {kNone};
      passed_.push_back({id, &inner, formal});
      value = graph_.node(id).results[0];
    }
    define(raw, value, scope, path);
  }
}

const Opsets* BodyBuilder::function_opsets(const Function& function) {
  auto opsets = std::make_unique<Opsets>();
  for (const OperatorSet& set : function.opset_import()) {
    const int64_t version = set.version();
    const std::string domain = canonical_domain(set.domain());
    if (version < 1 || version > INT32_MAX || (domain.empty() && version > kNewestOpset)) {
      state_.errors.add(state_
                            .fault(Code::unsupported_op_version,
                                   "function " + printable(function.name()) + ": opset is not supported", "")
                            .because("found " + std::to_string(version) + " of " +
                                     (domain.empty() ? "ai.onnx" : printable(domain)) + ", allowed 1 .. " +
                                     std::to_string(kNewestOpset)));
      return nullptr;
    }
    (*opsets)[domain] = static_cast<int>(version);
  }
  return opsets_.emplace_back(std::move(opsets)).get();
}

void BodyBuilder::finish_node(const Pending& pending) {
  read_attributes(pending.node, pending.id, *pending.scope);
  const std::string& path = graph_.node(pending.id).sources.front().path;
  graph_.node(pending.id).operands.assign(static_cast<size_t>(pending.node.input().size()), kNone);
  uint32_t i = 0;
  for (const std::string_view name : pending.node.input()) {
    const uint32_t at = i++;
    if (name.empty()) continue;
    const ValueId value = resolve(name, *pending.scope, path + "/inputs/" + std::to_string(at));
    if (value != kNone) graph_.set_operand(pending.id, at, value);
  }
  append_captures(graph_, pending.id, subgraphs_,
                  [&](const std::string& name) { return outer_names_.at(name); });
  subgraphs_.clear();
}

bool BodyBuilder::sees(std::string_view name, const Scope& scope) const {
  if (scope.names.contains(name)) return true;
  return !scope.function && outer_ && outer_->sees(name, *outer_scope_);
}

ValueId BodyBuilder::resolve(std::string_view name, const Scope& scope, const std::string& what) {
  const auto at = scope.names.find(name);
  if (at != scope.names.end() && at->second.value != kNone) return at->second.value;
  if (at != scope.names.end()) {  // a function's input: what its caller gives; "" is absent
    return at->second.link.empty() ? kNone : resolve(at->second.link, *scope.caller, what);
  }
  if (!scope.function && outer_ && outer_->sees(name, *outer_scope_)) {
    const ValueId value = outer_->resolve(name, *outer_scope_, what);
    return value == kNone ? kNone : capture(value);
  }
  tell_undefined(name, what);
  return kNone;
}

ValueId BodyBuilder::capture(ValueId outer_value) {
  const auto at = captured_.find(outer_value);
  if (at != captured_.end()) return at->second;
  const std::string& name = outer_->graph_.value(outer_value).name;
  const ValueId value = graph_.add_input(name, Type{});
  captures_.push_back(name);
  outer_->outer_names_[name] = outer_value;
  captured_.emplace(outer_value, value);
  return value;
}

void BodyBuilder::tell_undefined(std::string_view name, const std::string& what) {
  if (state_.gave_up) return;
  std::string near;
  if (state_.suggestions_left-- > 0) {
    std::vector<std::string> known;
    for (const auto& [raw, binding] : root_.names) known.push_back(printable(raw));
    std::sort(known.begin(), known.end());  // the same suggestion everywhere
    near = nearest(printable(name), known);
  }
  state_.errors.add(
      state_.fault(Code::undefined_value, "value '" + printable(name) + "' is not defined", what)
          .because("no input, initializer or node output has this name")
          .try_(near.empty() ? "" : "did you mean '" + near + "'?"));
}

void BodyBuilder::read_outputs(const onnx_wire::Graph& graph) {
  if (graph.output().begin() == std::default_sentinel)
    state_.errors.add(state_.fault(Code::missing_key, "the graph has no outputs", path_ + "/outputs"));
  std::set<std::string_view> seen;
  int64_t index = 0;
  for (const ValueInfo& output : graph.output()) {
    const std::string what = path_ + "/outputs/" + std::to_string(index++);
    const std::string_view name = output.name();
    if (!seen.insert(name).second) {
      state_.errors.add(
          state_.fault(Code::duplicate_name, "output '" + printable(name) + "' stands twice", what));
      continue;
    }
    const ValueId value = resolve(name, root_, what);
    if (value == kNone) continue;
    graph_.add_output(value, outer_ ? graph_.value(value).name : printable(name));
  }
}

}  // namespace ge::onnx_wire
