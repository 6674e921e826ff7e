// Graph: nodes, values, uses and their upkeep. Everything is linear in what it touches; nothing recurses over
// nodes.
#include "compiler/ir/graph.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace ge {

std::string to_string(const Type& type) {
  return std::string(name_of(type.dtype)) + to_string(type.dims);
}

const Source& Node::source() const {
  static const Source kNowhere;
  return sources.empty() ? kNowhere : sources.front();
}

SymbolRanges Graph::all_symbols() const {
  SymbolRanges all = symbols;
  for (const ValueId v : inputs)
    for (const Dim& d : type(v).dims)
      for (const std::string& name : d.symbols()) all.try_emplace(name);
  return all;
}

bool has_operand(const Node& node, size_t index) {
  return node.operands.size() > index && node.operands[index] != kNone;
}

int64_t opt_value(const Graph& graph, const Dim& dim) {
  std::map<std::string, int64_t> values;
  for (const std::string& s : dim.symbols()) {
    const auto it = graph.symbols.find(s);
    values[s] = it == graph.symbols.end() ? 8 : it->second.opt;
  }
  return std::max<int64_t>(0, dim.evaluate(values).value_or(INT64_MAX));
}

// a == b gives q*a == q*b: a product holds every symbol of its factors, so only assertions over a subset of
// the needed one's symbols can imply it.
bool Graph::asserts(const Assertion& needed) const {
  const Dim difference = needed.lhs - needed.rhs;
  if (difference.is_value(0)) return true;
  const auto implies = [&](size_t i) {
    return Dim::exact_quotient(difference, assertions[i].lhs - assertions[i].rhs).has_value();
  };
  const std::vector<std::string> symbols = difference.symbols();
  constexpr size_t kMaxSymbols = 6;
  if (symbols.size() > kMaxSymbols) {
    for (size_t i = 0; i < assertions.size(); ++i)
      if (implies(i)) return true;
    return false;
  }
  index_assertions();
  for (size_t subset = 0; subset < size_t{1} << symbols.size(); ++subset) {
    std::vector<std::string> chosen;
    for (size_t s = 0; s < symbols.size(); ++s)
      if ((subset >> s) & 1) chosen.push_back(symbols[s]);
    const auto found = assertions_over_.find(chosen);
    if (found != assertions_over_.end() && std::any_of(found->second.begin(), found->second.end(), implies))
      return true;
  }
  return false;
}

// Catches up with what was appended to the public list.
void Graph::index_assertions() const {
  if (indexed_assertions_ > assertions.size()) {
    assertions_over_.clear();
    indexed_assertions_ = 0;
  }
  for (; indexed_assertions_ < assertions.size(); ++indexed_assertions_) {
    const Assertion& a = assertions[indexed_assertions_];
    assertions_over_[(a.lhs - a.rhs).symbols()].push_back(indexed_assertions_);
  }
}

void Graph::add_assertion(Assertion assertion) {
  if (!asserts(assertion)) assertions.push_back(std::move(assertion));
}

ValueId Graph::add_input(std::string value_name, Type type) {
  auto value = std::make_unique<ValueInfo>();
  value->name = std::move(value_name);
  value->type = std::move(type);
  values_.push_back(std::move(value));
  uses_.emplace_back();
  inputs.push_back(static_cast<ValueId>(values_.size() - 1));
  return inputs.back();
}

NodeId Graph::add_node(Op op, std::vector<ValueId> operands, std::vector<Type> result_types, AttrMap attrs,
                       std::vector<Source> sources) {
  const auto id = static_cast<NodeId>(nodes_.size());
  auto node = std::make_unique<Node>();
  node->op = op;
  node->operands = std::move(operands);
  node->attrs = std::move(attrs);
  node->sources = std::move(sources);
  for (Type& type : result_types) {
    auto value = std::make_unique<ValueInfo>();
    value->type = std::move(type);
    value->producer = id;
    value->result_index = static_cast<uint32_t>(node->results.size());
    node->results.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back(std::move(value));
    uses_.emplace_back();
  }
  const size_t operand_count = node->operands.size();
  nodes_.push_back(std::move(node));
  slots_.emplace_back(operand_count, kNone);
  for (uint32_t i = 0; i < operand_count; ++i) add_use(nodes_[id]->operands[i], {id, i});
  return id;
}

ValueId Graph::add_constant(TensorData data, std::vector<Source> sources) {
  Type type;
  type.dtype = data.dtype;
  type.dims.assign(data.dims.begin(), data.dims.end());
  const NodeId id = add_node(Op::constant, {}, {std::move(type)}, {}, std::move(sources));
  nodes_[id]->data = std::make_unique<TensorData>(std::move(data));
  return nodes_[id]->results[0];
}

size_t Graph::live_nodes() const {
  return static_cast<size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const auto& n) { return n->alive; }));
}

// Kahn's algorithm; among ready nodes the least id goes first. Nodes on a cycle (and behind one) come last,
// by id.
std::vector<NodeId> Graph::order() const {
  std::vector<uint32_t> waiting(nodes_.size(), 0);
  bool sorted = true;  // the usual case: ids are topological already
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (!nodes_[id]->alive) continue;
    for (const ValueId v : nodes_[id]->operands) {
      if (v == kNone || values_[v]->producer == kNone) continue;
      ++waiting[id];
      sorted = sorted && values_[v]->producer < id;
    }
  }
  std::vector<NodeId> result;
  result.reserve(nodes_.size());
  if (sorted) {
    for (NodeId id = 0; id < nodes_.size(); ++id)
      if (nodes_[id]->alive) result.push_back(id);
    return result;
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  std::vector<bool> done(nodes_.size(), false);
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (nodes_[id]->alive && waiting[id] == 0) ready.push(id);
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    done[id] = true;
    result.push_back(id);
    for (const ValueId v : nodes_[id]->results)
      for (const Use& use : uses_[v])
        if (use.node != kNone && --waiting[use.node] == 0) ready.push(use.node);
  }
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (nodes_[id]->alive && !done[id]) result.push_back(id);
  return result;
}

uint32_t& Graph::slot_of(Use use) {
  auto& row = use.node == kNone ? output_slots_ : slots_[use.node];
  if (row.size() <= use.operand)
    row.resize(use.operand + 1, kNone);  // operands or outputs appended from outside
  return row[use.operand];
}

void Graph::add_use(ValueId value, Use use) {
  if (value == kNone) return;
  slot_of(use) = static_cast<uint32_t>(uses_[value].size());
  uses_[value].push_back(use);
}

void Graph::drop_use(ValueId value, Use use) {
  if (value == kNone) return;
  auto& list = uses_[value];
  size_t slot = slot_of(use);
  if (slot >= list.size() || !(list[slot] == use)) {  // the public lists were edited by hand
    slot = static_cast<size_t>(std::find(list.begin(), list.end(), use) - list.begin());
    if (slot == list.size()) return;
  }
  list[slot] = list.back();
  slot_of(list[slot]) = static_cast<uint32_t>(slot);
  list.pop_back();
}

void Graph::set_operand(NodeId node, uint32_t operand, ValueId value) {
  drop_use(nodes_[node]->operands[operand], {node, operand});
  nodes_[node]->operands[operand] = value;
  add_use(value, {node, operand});
}

void Graph::add_output(ValueId value, std::string output_name) {
  outputs.push_back(value);
  output_names.push_back(std::move(output_name));
  add_use(value, {kNone, static_cast<uint32_t>(outputs.size() - 1)});
}

void Graph::set_output(size_t index, ValueId value) {
  const Use use{kNone, static_cast<uint32_t>(index)};
  drop_use(outputs[index], use);
  outputs[index] = value;
  add_use(value, use);
}

void Graph::replace_all_uses(ValueId from, ValueId to) {
  if (from == to) return;
  for (const Use& use : std::exchange(uses_[from], {})) {
    (use.node == kNone ? outputs[use.operand] : nodes_[use.node]->operands[use.operand]) = to;
    add_use(to, use);
  }
  ValueInfo& source = *values_[from];
  ValueInfo& target = *values_[to];
  // An input's name is the model's interface and stays with it.
  if (target.name.empty() && source.producer != kNone) target.name = std::exchange(source.name, "");
}

void Graph::remove_node(NodeId id) {
  Node& node = *nodes_[id];
  for (uint32_t i = 0; i < node.operands.size(); ++i) drop_use(node.operands[i], {id, i});
  node.alive = false;
  node.operands.clear();
  slots_[id].clear();
  node.body.reset();
  node.data.reset();
  for (const ValueId v : node.results) values_[v]->alive = false;
}

bool Graph::is_constant(ValueId id) const {
  return constant(id) != nullptr;
}

const TensorData* Graph::constant(ValueId id) const {
  if (id == kNone) return nullptr;
  const Node* node = producer(id);
  return node != nullptr && node->op == Op::constant ? node->data.get() : nullptr;
}

namespace {
Node clone_node(const Node& node) {
  Node copy;
  copy.op = node.op;
  copy.operands = node.operands;
  copy.results = node.results;
  copy.attrs = node.attrs;
  for (auto& [name, attr] : copy.attrs)
    if (auto* graph = std::get_if<std::shared_ptr<Graph>>(&attr); graph != nullptr && *graph != nullptr)
      *graph = std::make_shared<Graph>((*graph)->clone());
  copy.sources = node.sources;
  if (node.onnx) copy.onnx = std::make_unique<OnnxName>(*node.onnx);
  if (node.data)
    copy.data = std::make_unique<TensorData>(*node.data);  // the bytes are shared: they never change
  if (node.body) copy.body = std::make_unique<Graph>(node.body->clone());
  copy.alive = node.alive;
  return copy;
}
}  // namespace

Graph Graph::clone() const {
  Graph copy;
  copy.name = name;
  copy.symbols = symbols;
  copy.assertions = assertions;
  copy.inputs = inputs;
  copy.outputs = outputs;
  copy.output_names = output_names;
  copy.notes = notes;
  for (const auto& node : nodes_) copy.nodes_.push_back(std::make_unique<Node>(clone_node(*node)));
  for (const auto& value : values_) copy.values_.push_back(std::make_unique<ValueInfo>(*value));
  copy.uses_ = uses_;
  copy.slots_ = slots_;
  copy.output_slots_ = output_slots_;
  return copy;
}

void Graph::compact() {
  const std::vector<NodeId> nodes = order();
  std::vector<ValueId> value_map(values_.size(), kNone);
  std::vector<std::unique_ptr<ValueInfo>> values;
  const auto keep = [&](ValueId id) {
    value_map[id] = static_cast<ValueId>(values.size());
    values.push_back(std::move(values_[id]));
  };
  for (const ValueId v : inputs) keep(v);
  for (const NodeId id : nodes)
    for (const ValueId v : nodes_[id]->results) keep(v);
  std::vector<std::unique_ptr<Node>> kept;
  const auto renumber = [&](ValueId& v) {
    if (v != kNone) v = value_map[v];
  };
  for (const NodeId id : nodes) {
    Node& node = *nodes_[id];
    for (ValueId& v : node.operands) renumber(v);
    for (ValueId& v : node.results) {
      renumber(v);
      values[v]->producer = static_cast<NodeId>(kept.size());
    }
    kept.push_back(std::move(nodes_[id]));
  }
  for (ValueId& v : inputs) renumber(v);
  for (ValueId& v : outputs) renumber(v);
  nodes_ = std::move(kept);
  values_ = std::move(values);
  uses_.assign(values_.size(), {});
  slots_.assign(nodes_.size(), {});
  output_slots_.clear();
  for (NodeId id = 0; id < nodes_.size(); ++id)
    for (uint32_t i = 0; i < nodes_[id]->operands.size(); ++i) add_use(nodes_[id]->operands[i], {id, i});
  for (uint32_t i = 0; i < outputs.size(); ++i) add_use(outputs[i], {kNone, i});
}

namespace {
template <class T>
const T* find_attr(const Node& node, std::string_view name) {
  const auto it = node.attrs.find(std::string(name));
  return it == node.attrs.end() ? nullptr : std::get_if<T>(&it->second);
}
}  // namespace

int64_t attr_int(const Node& node, std::string_view name, int64_t fallback) {
  const auto* v = find_attr<int64_t>(node, name);
  return v == nullptr ? fallback : *v;
}
double attr_double(const Node& node, std::string_view name, double fallback) {
  if (const auto* i = find_attr<int64_t>(node, name)) return static_cast<double>(*i);
  const auto* v = find_attr<double>(node, name);
  return v == nullptr ? fallback : *v;
}
const std::vector<int64_t>& attr_ints(const Node& node, std::string_view name) {
  static const std::vector<int64_t> kEmpty;
  const auto* v = find_attr<std::vector<int64_t>>(node, name);
  return v == nullptr ? kEmpty : *v;
}
bool attr_ints_are(const Node& node, std::string_view name, int64_t value) {
  return std::ranges::all_of(attr_ints(node, name), [&](int64_t v) { return v == value; });
}
const Dims& attr_dims(const Node& node, std::string_view name) {
  static const Dims kEmpty;
  const auto* v = find_attr<Dims>(node, name);
  return v == nullptr ? kEmpty : *v;
}
DType attr_dtype(const Node& node, std::string_view name) {
  const auto* v = find_attr<DType>(node, name);
  return v == nullptr ? DType::float32 : *v;
}
std::string attr_string(const Node& node, std::string_view name, std::string_view fallback) {
  const auto* v = find_attr<std::string>(node, name);
  return v == nullptr ? std::string(fallback) : *v;
}

}  // namespace ge
