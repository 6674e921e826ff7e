// eliminate_common_subexpressions: keeps one of equal nodes.
//   before   %a = exp(%x); %b = exp(%x); %c = add(%a, %b)
//   after    %a = exp(%x); %c = add(%a, %a)
// Precondition: same op, operands in the same order, every attribute, result types, body; constants with
// equal bytes. ONNX nodes are left alone: whether one is a function of its operands is not known here. Gain:
// the work and memory of the copies; weights that appear twice are stored once. Cost: a value may live
// longer. Class: exact. Here: after folding, which makes equal constants of different formulas.
#include <cstring>
#include <map>
#include <unordered_map>

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

// Where a constant's contents cannot be looked at cheaply, the identity of its loader stands for them.
void append_contents(std::string& key, const TensorData& data) {
  append_raw(key, data.splat);
  if (data.load != nullptr) {
    append_raw(key, data.load.get());
  } else {
    key += hash128_hex(data.bytes->span());
  }
}

bool same_contents(const TensorData& a, const TensorData& b) {
  if (a.load != nullptr || a.bytes == b.bytes) return true;  // the key holds the loader
  return a.bytes->size() == b.bytes->size() &&
         std::memcmp(a.bytes->data(), b.bytes->data(), a.bytes->size()) == 0;
}

std::string key_of(const Graph& graph, const Node& node) {
  std::string key;
  append_raw(key, node.op);
  for (const ValueId v : node.operands) append_raw(key, v);
  for (const ValueId v : node.results) key += to_string(graph.type(v)) + ";";
  for (const auto& [name, attr] : node.attrs)
    key += name + std::to_string(attr.index()) + "=" + text_of(attr) + ";";
  if (node.data) append_contents(key, *node.data);
  if (node.body) key += print(*node.body, {.sources = false, .max_elements = INT64_MAX});
  return key;
}
}  // namespace

Status eliminate_common_subexpressions(Graph& graph, PassContext&) {
  std::unordered_map<std::string, NodeId> seen;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == Op::onnx) continue;
    const auto [it, first] = seen.emplace(key_of(graph, node), id);
    if (first) continue;
    Node& kept = graph.node(it->second);
    if (node.data && !same_contents(*kept.data, *node.data)) continue;
    merge_sources(kept.sources, node.sources);
    for (size_t i = 0; i < node.results.size(); ++i) graph.replace_all_uses(node.results[i], kept.results[i]);
    graph.remove_node(id);
  }
  return {};
}

}  // namespace ge
