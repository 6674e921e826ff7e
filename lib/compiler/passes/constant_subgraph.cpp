// Gathering and evaluating what depends on constants alone; see constant_subgraph.h.
#include "compiler/passes/constant_subgraph.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "compiler/ir/builder.h"
#include "compiler/passes/rewrite.h"

namespace ge {

namespace {
// A node is left to the run where its result is more than 4 times its operands and past 1 MiB, or its
// multiplications are past 2^28, or where it needs uniform operands written out past 64 MiB: bounds of work
// and bytes, so that every machine folds the same. A uniform operand counts as the one element that a plan
// holds, a broadcast one as what it repeats: its user reads that in place.
constexpr int64_t kMaxGrownBytes = int64_t{1} << 20;
constexpr int64_t kMaxGrowth = 4;
constexpr int64_t kMaxProducts = int64_t{1} << 28;
constexpr int64_t kMaxWrittenOutBytes = int64_t{1} << 26;
constexpr int64_t kGroupBytes = int64_t{1} << 24;  // of values that are computed together

// Functions that the C library computes: in float64 their last bit differs between machines.
bool is_transcendental(Op op) {
  switch (op) {
    case Op::pow:
    case Op::exp:
    case Op::log:
    case Op::expm1:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::erf:
    case Op::elu:
    case Op::selu:
    case Op::celu:
    case Op::sigmoid:
    case Op::gelu:
    case Op::gelu_tanh:
    case Op::silu:
    case Op::mish:
    case Op::softplus:
    case Op::swish:
    case Op::softmax:
    case Op::log_softmax:
    case Op::attention:
      return true;
    default:
      return false;
  }
}

bool moves_elements(Op op) {
  return op == Op::reshape || op == Op::broadcast || op == Op::transpose || op == Op::slice;
}

int64_t count_of(const Type& type) {
  return product(type.dims).value().value_or(INT64_MAX);
}
int64_t size_of(const Type& type) {
  const int64_t count = count_of(type);
  return count > INT64_MAX / 64 ? INT64_MAX : bytes_of(type.dtype, count);
}

// Multiplications of dot, conv and pool; 0 for ops that touch each element a fixed number of times.
int64_t products_of(const Graph& graph, const Node& node) {
  const auto type = [&](size_t i) -> const Type& { return graph.type(node.operands[i]); };
  int64_t per_element = 0;
  if (node.op == Op::dot) per_element = type(0).dims.back().value().value_or(INT64_MAX);
  if (node.op == Op::conv) per_element = product(type(1).dims, 1).value().value_or(INT64_MAX);
  if (node.op == Op::attention)
    per_element = checked_mul(type(1).dims[2].value().value_or(INT64_MAX),
                              checked_add(type(0).dims[3].value().value_or(INT64_MAX), 1).value_or(INT64_MAX))
                      .value_or(INT64_MAX);
  if (node.op == Op::pool) {
    per_element = 1;
    for (const int64_t k : attr_ints(node, "kernel"))
      per_element = checked_mul(per_element, k).value_or(INT64_MAX);
  }
  return checked_mul(per_element, count_of(graph.type(node.results[0]))).value_or(INT64_MAX);
}

// dims() of a symbolic batch has no operands, and a slice may start at one: neither is known before the run.
bool names_symbols(const Node& node) {
  return std::any_of(node.attrs.begin(), node.attrs.end(), [](const auto& attr) {
    const Dims* dims = std::get_if<Dims>(&attr.second);
    return dims != nullptr && !static_values(*dims);
  });
}
}  // namespace

ConstantSubgraph::ConstantSubgraph(const Graph& graph)
    : graph_(graph), known_(graph.value_capacity(), false), known_splat_(graph.value_capacity(), false) {
  const std::vector<NodeId> order = graph.order();
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (node.op == Op::constant) {
      known_[node.results[0]] = true;
      known_splat_[node.results[0]] =
          uniform_constant(graph, node.results[0]) != nullptr && bits_of(node.data->dtype) >= 8;
    } else if (foldable(node)) {
      known_[node.results[0]] = true;
      known_splat_[node.results[0]] = stays_splat(node);
    }
  }
  for (const NodeId id : order)
    for (const ValueId v : graph.node(id).results)
      if (worth_replacing(v)) frontier_.push_back(v);
}

bool ConstantSubgraph::foldable(const Node& node) const {
  if (node.op == Op::onnx || node.results.size() != 1 || !static_values(graph_.type(node.results[0]).dims))
    return false;
  const bool known = std::all_of(node.operands.begin(), node.operands.end(),
                                 [&](ValueId v) { return v == kNone || known_[v]; });
  if (!known || names_symbols(node) || !within_bounds(node)) return false;
  if (node.body != nullptr) {
    for (const NodeId id : node.body->order()) {
      const Node& inner = node.body->node(id);
      if (is_transcendental(inner.op) && node.body->type(inner.results[0]).dtype == DType::float64)
        return false;
    }
  }
  return !(is_transcendental(node.op) && graph_.type(node.results[0]).dtype == DType::float64);
}

bool ConstantSubgraph::within_bounds(const Node& node) const {
  if (stays_splat(node)) return true;
  int64_t operand_bytes = 0;
  int64_t written_out = 0;
  for (const ValueId v : node.operands) {
    if (v == kNone) continue;
    const int64_t bytes = size_of(graph_.type(v));
    if (known_splat_[v]) {
      written_out = checked_add(written_out, bytes).value_or(INT64_MAX);
      operand_bytes = checked_add(operand_bytes, int64_t{8}).value_or(INT64_MAX);
    } else {
      operand_bytes = checked_add(operand_bytes, stored_bytes(v)).value_or(INT64_MAX);
    }
  }
  if (written_out > kMaxWrittenOutBytes) return false;
  const int64_t bytes = size_of(graph_.type(node.results[0]));
  if (node.op == Op::broadcast) return bytes <= kMaxWrittenOutBytes;
  if (bytes > kMaxGrownBytes && bytes / kMaxGrowth > operand_bytes) return false;
  return products_of(graph_, node) <= kMaxProducts;
}

int64_t ConstantSubgraph::stored_bytes(ValueId v) const {
  const Node* node = graph_.producer(v);
  while (node->op == Op::broadcast) {
    v = node->operands[0];
    node = graph_.producer(v);
  }
  return size_of(graph_.type(v));
}

bool ConstantSubgraph::stays_splat(const Node& node) const {
  if (node.operands.empty() || count_of(graph_.type(node.results[0])) == 0) return false;
  if (moves_elements(node.op)) return known_splat_[node.operands[0]];
  if (!is_map(node.op) && node.op != Op::cast) return false;
  if (bits_of(graph_.type(node.results[0]).dtype) < 8) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId v) { return v != kNone && known_splat_[v]; });
}

// Large, and for nodes that read it from memory: in maps a splat is a number.
bool ConstantSubgraph::is_written_out(ValueId v) const {
  if (size_of(graph_.type(v)) <= kMaxWrittenOutBytes) return false;
  const auto& uses = graph_.uses(v);
  return std::none_of(uses.begin(), uses.end(), [&](const Graph::Use& use) {
    return use.node == kNone || is_map(graph_.node(use.node).op) || graph_.node(use.node).op == Op::cast;
  });
}

// Used by an output or a node that is not known itself. Copies of a small constant along an axis stay where
// they are made: whoever uses them reads the small one.
bool ConstantSubgraph::worth_replacing(ValueId v) const {
  if (!known_[v] || graph_.is_constant(v)) return false;
  const auto left = [&](const Graph::Use& use) {
    if (use.node == kNone) return true;
    const Node& user = graph_.node(use.node);
    if (!known_[user.results[0]]) return true;
    return user.op == Op::broadcast && !known_splat_[user.results[0]] &&
           graph_.type(user.results[0]).dims != graph_.type(v).dims;
  };
  const auto& uses = graph_.uses(v);
  const Node& node = *graph_.producer(v);
  const bool copies = node.op == Op::broadcast && (!known_splat_[v] || is_written_out(v)) &&
                      count_of(graph_.type(v)) > count_of(graph_.type(node.operands[0]));
  if (copies) return false;
  return std::any_of(uses.begin(), uses.end(), left);
}

// In groups of a bounded size, so that the operands of one group are in memory and not those of the whole
// model.
Result<std::vector<TensorData>> ConstantSubgraph::evaluate(const Evaluator& evaluate) {
  std::vector<TensorData> contents;
  while (contents.size() < frontier_.size()) {
    size_t end = contents.size();
    for (int64_t bytes = 0; end < frontier_.size() && bytes < kGroupBytes; ++end)
      bytes = checked_add(bytes, size_of(graph_.type(frontier_[end]))).value_or(INT64_MAX);
    GE_TRY(evaluate_group(evaluate, end, contents));
  }
  return contents;
}

// Appends the values of the frontier up to `end`.
Status ConstantSubgraph::evaluate_group(const Evaluator& evaluate, size_t end,
                                        std::vector<TensorData>& contents) {
  built_ = Graph();
  entries_.clear();
  inputs_.clear();
  const size_t begin = contents.size();
  std::vector<Entry> wanted;
  for (size_t i = begin; i < end; ++i) {
    GE_ASSIGN(const Entry entry, build(frontier_[i]));
    wanted.push_back(entry);
    built_.add_output(entry.built, "v" + std::to_string(frontier_[i]));
  }
  const bool only_moves = built_.live_nodes() == 0;
  std::vector<HostTensor> results;
  if (!only_moves) {
    GE_ASSIGN(results, evaluate(built_, inputs_, {}));
  }
  std::map<ValueId, size_t> input_index;
  for (size_t i = 0; i < built_.inputs.size(); ++i) input_index[built_.inputs[i]] = i;
  for (size_t i = begin; i < end; ++i) {
    const Type& type = graph_.type(frontier_[i]);
    const Entry& entry = wanted[i - begin];
    ByteBuffer bytes = only_moves ? ByteBuffer::copy_of(inputs_[input_index.at(entry.built)].bytes.span())
                                  : std::move(results[i - begin].bytes);
    contents.push_back({type.dtype, *static_values(type.dims),
                        std::make_shared<const ByteBuffer>(std::move(bytes)), entry.splat, nullptr});
  }
  inputs_.clear();
  return {};
}

// Post-order without recursion: chains of constants may be long.
void ConstantSubgraph::build_operands_first(ValueId v, std::vector<ValueId>& order) const {
  std::vector<std::pair<ValueId, bool>> stack{{v, false}};
  while (!stack.empty()) {
    const auto [value, visited] = stack.back();
    stack.pop_back();
    if (entries_.contains(value)) continue;
    if (visited) {
      order.push_back(value);
      continue;
    }
    stack.emplace_back(value, true);
    for (const ValueId operand : graph_.producer(value)->operands)
      if (operand != kNone) stack.emplace_back(operand, false);
  }
}

Result<ConstantSubgraph::Entry> ConstantSubgraph::build(ValueId v) {
  std::vector<ValueId> order;
  build_operands_first(v, order);
  for (const ValueId value : order) {
    if (entries_.contains(value)) continue;  // reached twice
    const Node& node = *graph_.producer(value);
    GE_ASSIGN(entries_[value], node.op == Op::constant ? build_constant(value) : build_node(node, value));
  }
  return entries_.at(v);
}

Result<ConstantSubgraph::Entry> ConstantSubgraph::build_constant(ValueId v) {
  const TensorData& data = *graph_.constant(v);
  const bool splat = known_splat_[v];
  HostTensor tensor;
  tensor.dtype = data.dtype;
  if (splat) {
    tensor.bytes =
        ByteBuffer::copy_of(data.bytes->span().first(static_cast<size_t>(bytes_of(data.dtype, 1))));
  } else {
    tensor.dims = data.dims;
    GE_ASSIGN(const auto bytes, full_bytes(data));
    tensor.bytes = ByteBuffer::copy_of(bytes->span());
  }
  const ValueId built =
      built_.add_input("c" + std::to_string(v), {tensor.dtype, Dims(tensor.dims.begin(), tensor.dims.end())});
  inputs_.push_back(std::move(tensor));
  return Entry{splat, built};
}

Result<ConstantSubgraph::Entry> ConstantSubgraph::build_node(const Node& node, ValueId result) {
  if (known_splat_[result] && moves_elements(node.op))
    return Entry{true, entries_.at(node.operands[0]).built};
  const bool splat = known_splat_[result];
  std::vector<ValueId> operands;
  for (const ValueId v : node.operands)
    operands.push_back(v == kNone ? kNone : splat ? entries_.at(v).built : full(v));
  Type type = graph_.type(result);
  if (splat) type.dims.clear();
  const NodeId id =
      built_.add_node(node.op, std::move(operands), {std::move(type)}, node.attrs, node.sources);
  if (node.body != nullptr) built_.node(id).body = std::make_unique<Graph>(node.body->clone());
  return Entry{splat, built_.node(id).results[0]};
}

ValueId ConstantSubgraph::full(ValueId v) {
  const Entry& entry = entries_.at(v);
  if (!entry.splat) return entry.built;
  return Builder(built_, {}).broadcast(entry.built, graph_.type(v).dims);
}

}  // namespace ge
