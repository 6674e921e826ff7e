// eliminate_common_subexpressions: keeps one of equal nodes.
//   before   %a = exp(%x); %b = exp(%x); %c = add(%a, %b)
//   after    %a = exp(%x); %c = add(%a, %a)
// Precondition: same op, operands in the same order, every attribute, result types, body; constants with
// equal bytes, wherever these are. ONNX nodes are left alone: whether one is a function of its operands is
// not known here. Gain: the work and memory of the copies; weights that appear twice are stored once. Cost: a
// value may live longer. Class: exact. Here: after folding, which makes equal constants of different
// formulas.
#include <algorithm>
#include <map>

#include "base/name_map.h"
#include "base/text.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_literals.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "contract/hash.h"

namespace ge {

namespace {
template <class T>
void append_raw(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string text_of(const Attr& attr) {
  const auto list = [](const auto& values, auto text) {
    std::string out;
    for (const auto& v : values) out += text(v) + ",";
    return out;
  };
  if (const auto* i = std::get_if<int64_t>(&attr)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&attr)) return double_text(*d);
  if (const auto* s = std::get_if<std::string>(&attr)) return quoted(*s);
  if (const auto* v = std::get_if<std::vector<int64_t>>(&attr))
    return list(*v, [](int64_t x) { return std::to_string(x); });
  if (const auto* v = std::get_if<std::vector<double>>(&attr)) return list(*v, double_text);
  if (const auto* v = std::get_if<std::vector<std::string>>(&attr))
    return list(*v, [](const std::string& x) { return quoted(x); });
  if (const auto* v = std::get_if<Dims>(&attr)) return to_string(*v);
  if (const auto* t = std::get_if<DType>(&attr)) return std::string(name_of(*t));
  return "";  // tensors and graphs: core ops have none
}

// How a constant begins: enough to tell most apart without reading them. The same for equal contents, in
// memory or in a file; where they are made when asked for, the identity of what makes them.
std::string start_of(const Graph& graph, const Node& node) {
  const TensorData& data = *node.data;
  std::string key = to_string(graph.type(node.results[0]));
  append_raw(key, data.splat);
  if (data.load != nullptr && !data.start) {
    append_raw(key, data.load.get());
    return key;
  }
  const uint64_t start = data.load ? *data.start
                                   : hash64(data.bytes->span().first(std::min(
                                         data.bytes->size(), static_cast<size_t>(kConstantStartBytes))));
  append_raw(key, start);
  return key;
}

class Contents {
 public:
  explicit Contents(const Graph& graph) : graph_(graph) {
    for (const NodeId id : graph.order())
      if (graph.node(id).data) ++begin_so_[start_of(graph, graph.node(id))];
  }

  // Those that begin as no other need not be read.
  Result<std::string> key(const Node& node) const {
    std::string key = start_of(graph_, node);
    if (begin_so_.at(key) == 1) return key;
    if (node.data->splat || (node.data->load != nullptr && !node.data->start))
      return node.data->splat ? key + hash128_hex(node.data->bytes->span()) : key;
    GE_ASSIGN(const auto bytes, full_bytes(*node.data));
    return key + hash128_hex(bytes->span());
  }

  static Result<bool> same(const TensorData& a, const TensorData& b) {
    if (a.load == b.load && a.bytes == b.bytes) return true;
    const auto bytes_of = [](const TensorData& d) -> Result<std::shared_ptr<const ByteBuffer>> {
      if (d.splat) return d.bytes;  // both are
      return full_bytes(d);
    };
    GE_ASSIGN(const auto left, bytes_of(a));
    GE_ASSIGN(const auto right, bytes_of(b));
    return std::ranges::equal(left->span(), right->span());
  }

 private:
  const Graph& graph_;
  NameMap<std::string, int> begin_so_;
};

std::string key_of(const Graph& graph, const Node& node) {
  std::string key;
  append_raw(key, node.op);
  for (const ValueId v : node.operands) append_raw(key, v);
  for (const ValueId v : node.results) key += to_string(graph.type(v)) + ";";
  for (const auto& [name, attr] : node.attrs)
    key += name + std::to_string(attr.index()) + "=" + text_of(attr) + ";";
  if (node.body) key += print(*node.body, {.sources = false, .max_elements = INT64_MAX});
  return key;
}
}  // namespace

Status eliminate_common_subexpressions(Graph& graph, PassContext&) {
  NameMap<std::string, NodeId> seen;
  const Contents contents(graph);
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == Op::onnx) continue;
    std::string key = key_of(graph, node);
    if (node.data) {
      GE_ASSIGN(const std::string content, contents.key(node));
      key += content;
    }
    const auto [it, first] = seen.emplace(std::move(key), id);
    if (first) continue;
    Node& kept = graph.node(it->second);
    if (node.data) {
      GE_ASSIGN(const bool same, Contents::same(*kept.data, *node.data));
      if (!same) continue;
    }
    merge_sources(kept.sources, node.sources);
    for (size_t i = 0; i < node.results.size(); ++i) graph.replace_all_uses(node.results[i], kept.results[i]);
    graph.remove_node(id);
  }
  return {};
}

}  // namespace ge
