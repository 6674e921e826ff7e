// Bodies of graphs: names first, then what nodes read, so that nodes may stand in any order.
#include "compiler/source/body_reader.h"

#include <algorithm>

#include "compiler/ir/opset.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/unfolding.h"

namespace ge {

bool ReadState::pay(uint64_t bytes, const Value& json) {
  if (unfolded_left >= 0 && bytes <= static_cast<uint64_t>(unfolded_left)) {
    unfolded_left -= static_cast<int64_t>(bytes);
    return true;
  }
  if (unfolded_left >= 0)
    errors.add(fault_at(json, Code::document_limit, "the graph's subgraphs unfold to too much")
                   .because("with what they use of the graphs around them, they take more memory than is "
                            "allowed beside the text"));
  unfolded_left = -1;
  gave_up = true;
  return false;
}

Graph BodyReader::read(const Fields& fields, const SymbolRanges& symbols) {
  graph_.symbols = symbols;
  if (const auto name = fields.name("name", true)) graph_.name = *name;
  read_inputs(fields);
  read_initializers(fields);
  scan_nodes(fields);
  for (const NodeSpec& spec : specs_) {
    if (state_.gives_up()) break;
    finish_node(spec);
  }
  read_outputs(fields);
  tell_cycles(graph_, state_.errors);
  return std::move(graph_);
}

Source BodyReader::source_of(const Value& json, std::string path, std::string name) const {
  return {std::move(path), json.place(), std::move(name)};
}

void BodyReader::define(const std::string& name, ValueId value, const Value& json) {
  const bool outside = outer_ != nullptr && outer_->sees(name);
  // A subgraph's own is meant inside it, also where its name is refused: no faults follow from that one.
  const bool fresh = names_.emplace(name, value).second;
  if (fresh && !outside) return;
  state_.errors.add(fault_at(json, Code::duplicate_name, "value '" + name + "' is defined twice")
                        .because("names of inputs, initializers and node outputs are unique")
                        .try_("rename one of them"));
}

bool BodyReader::sees(const std::string& name) const {
  return names_.contains(name) || (outer_ != nullptr && outer_->sees(name));
}

void BodyReader::read_inputs(const Fields& fields) {
  const auto inputs = fields.array("inputs");
  if (!inputs) return;
  for (const Value json : *inputs) {
    if (state_.gives_up()) return;
    const Fields input(json, outer_ ? std::span<const KeyInfo>(kSubgraphInputKeys) : kInputKeys, "an input",
                       state_.errors);
    const auto name = input.name("name");
    const auto dtype = state_.tensors.dtype(input);
    const auto shape = input.array("shape");
    auto dims = shape ? read_shape(*shape, state_.errors) : std::nullopt;
    if (dims) check_ranges(*shape, *dims, graph_.symbols, state_.errors);
    if (!name) continue;
    const ValueId value = graph_.add_input(*name, {dtype.value_or(DType::float32), dims.value_or(Dims{})});
    define(*name, value, json);
  }
}

void BodyReader::read_initializers(const Fields& fields) {
  const auto list = fields.array("initializers");
  if (!list) return;
  int64_t index = 0;
  for (const Value json : *list) {
    if (state_.gives_up()) return;
    if (outer_ && !state_.pay(path_.size(), json)) return;
    const std::string path = path_ + "/initializers/" + std::to_string(index++);
    const Fields initializer(json, kInitializerKeys, "an initializer", state_.errors);
    const auto name = initializer.name("name");
    auto data = state_.tensors.read(initializer);
    if (!name) continue;
    const TensorData stand_in{DType::float32, {0}, std::make_shared<const ByteBuffer>(), false, nullptr};
    const ValueId value =
        graph_.add_constant(data ? std::move(*data) : stand_in, {source_of(json, path, *name)});
    graph_.value(value).name = *name;
    define(*name, value, json);
  }
}

void BodyReader::scan_nodes(const Fields& fields) {
  const auto nodes = fields.array("nodes");
  if (!nodes) return;
  if (nodes->size() > state_.nodes_left) {
    state_.errors.add(fault_at(*nodes, Code::document_limit, "too many nodes")
                          .because("found " + std::to_string(nodes->size()) + ", allowed " +
                                   std::to_string(state_.nodes_left)));
    state_.gave_up = true;
    return;
  }
  state_.nodes_left -= nodes->size();
  specs_.reserve(static_cast<size_t>(nodes->size()));
  int64_t index = 0;
  for (const Value json : *nodes) {
    if (state_.gives_up()) return;
    if (outer_ && !state_.pay(path_.size(), json)) return;
    scan_node(json, path_ + "/nodes/" + std::to_string(index++));
  }
}

// The node with its results; operands and attributes follow when all names are known.
void BodyReader::scan_node(const Value& json, const std::string& path) {
  const Fields fields(json, kNodeKeys, "a node", state_.errors);
  if (!fields.is_object()) return;
  const auto op = fields.name("op");
  std::string domain = canonical_domain(fields.text("domain").value_or(""));
  const std::string name = fields.name("name", true).value_or("");
  std::vector<std::pair<std::string, Value>> results;
  if (const auto outputs = fields.array("outputs")) {
    for (const Value v : *outputs)
      if (!state_.gives_up()) results.emplace_back(read_name(v, true, state_.errors).value_or(""), v);
  }
  const NodeId id =
      graph_.add_node(Op::onnx, {}, std::vector<Type>(results.size()), {}, {source_of(json, path, name)});
  graph_.node(id).onnx =
      std::make_unique<OnnxName>(OnnxName{domain, op.value_or(""), domain.empty() ? state_.opset : 1});
  specs_.push_back({json, id});
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].first.empty()) continue;
    if (state_.gives_up()) return;
    const ValueId value = graph_.node(id).results[i];
    graph_.value(value).name = results[i].first;
    define(results[i].first, value, results[i].second);
  }
  if (name.empty()) return;
  const auto [at, is_new] = node_names_.emplace(name, json.place());
  if (is_new) return;
  state_.errors.add(
      fault_at(*json.find("name"), Code::duplicate_name, "node name '" + name + "' is used twice")
          .because("the first is at " + at->second)
          .try_("rename one of them, or leave the name out"));
}

void BodyReader::finish_node(const NodeSpec& spec) {
  const auto attributes = spec.json.find("attributes");
  if (attributes) read_attributes(*attributes, spec.id);
  const auto inputs = spec.json.find("inputs");
  std::vector<ValueId> operands;
  if (inputs && !inputs->is_array()) tell_wrong_type(*inputs, "an array", state_.errors);
  if (inputs && inputs->is_array()) {
    for (const Value v : *inputs) {
      if (state_.gives_up()) return;
      const auto name = read_name(v, true, state_.errors);
      operands.push_back(name && !name->empty() ? resolve(*name, v) : kNone);
    }
  }
  graph_.node(spec.id).operands.assign(operands.size(), kNone);
  for (uint32_t i = 0; i < operands.size(); ++i) {
    if (operands[i] != kNone) graph_.set_operand(spec.id, i, operands[i]);
  }
  append_captures(
      graph_, spec.id, subgraphs_, [&](const std::string& name) { return resolve(name, spec.json); },
      [&](uint64_t bytes) { return state_.pay(bytes, spec.json); });
  subgraphs_.clear();
}

void BodyReader::read_outputs(const Fields& fields) {
  const auto outputs = fields.array("outputs");
  if (!outputs) return;
  if (outputs->size() == 0) {
    state_.errors.add(
        fault_at(*outputs, Code::missing_key, "the graph has no outputs").try_("name at least one value"));
  }
  std::set<std::string> seen;
  for (const Value v : *outputs) {
    if (state_.gives_up()) return;
    const auto name = read_name(v, false, state_.errors);
    if (!name) continue;
    if (!seen.insert(*name).second) {
      state_.errors.add(fault_at(v, Code::duplicate_name, "output '" + *name + "' stands twice")
                            .try_("remove one of them"));
      continue;
    }
    const ValueId value = resolve(*name, v);
    if (value != kNone) graph_.add_output(value, *name);
  }
}

// A name of this body, or of a body around it: then it becomes an input of this one.
ValueId BodyReader::resolve(const std::string& name, const Value& json) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  if (outer_ != nullptr && outer_->sees(name))
    return state_.pay(unfolded::kCapture + 5 * name.size(), json) ? capture(name) : kNone;
  tell_undefined(name, json);
  return kNone;
}

ValueId BodyReader::capture(const std::string& name) {
  const ValueId value = graph_.add_input(name, Type{});
  names_.emplace(name, value);
  captures_.push_back(name);
  return value;
}

void BodyReader::tell_undefined(const std::string& name, const Value& json) {
  if (state_.gives_up() || !undefined_.insert(name).second) return;  // once, at its first use
  const std::string near = nearest_name(name);
  state_.errors.add(fault_at(json, Code::undefined_value, "value '" + name + "' is not defined")
                        .because("no input, initializer or node output has this name")
                        .try_(near.empty() ? "" : "did you mean '" + near + "'?"));
}

std::string BodyReader::nearest_name(const std::string& name) {
  constexpr size_t kMaxCandidates = 20'000;
  if (state_.suggestions_left-- <= 0 || names_.size() > kMaxCandidates) return "";
  std::vector<std::string> candidates;
  for (const BodyReader* body = this; body != nullptr; body = body->outer_) {
    for (const auto& [known, value] : body->names_) candidates.push_back(known);
  }
  std::sort(candidates.begin(), candidates.end());  // the same suggestion everywhere
  return nearest(name, candidates);
}

}  // namespace ge
