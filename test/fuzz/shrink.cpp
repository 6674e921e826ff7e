#include "fuzz/shrink.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "compiler/onnx_ops/lower.h"
#include "numeric/convert.h"

namespace ge::test {
namespace {

// Changes that rebuild() makes on its way; what is then reached from no output is left out.
struct Edit {
  std::vector<size_t> outputs;             // to keep; empty: all
  std::map<ValueId, ValueId> redirect;     // uses of a value become uses of an earlier one
  std::map<ValueId, Type> to_input;        // a node's result becomes an input
  std::map<ValueId, TensorData> constant;  // an initializer's new contents
  std::map<NodeId, AttrMap> attrs;
  std::map<NodeId, std::vector<ValueId>> operands;
  std::map<std::string, Dim> symbols;      // replaced in inputs' shapes
  std::function<int64_t(int64_t)> extent;  // of every input and initializer
  std::function<DType(DType)> dtype;       // of every input, initializer and dtype attribute
};

TensorData cut(const TensorData& data, const std::vector<int64_t>& dims, DType dtype) {
  TensorData out = data;
  out.dims = dims;
  out.dtype = dtype;
  const auto whole = full_bytes(data);
  if (!whole.ok()) return data;
  const int64_t count = data.splat ? 1 : out.count(),
                had = std::max<int64_t>(1, data.splat ? 1 : data.count());
  ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(bytes_of(dtype, count)), true);
  for (int64_t i = 0; i < count && data.size_bytes() > 0; ++i) {
    if (is_float(data.dtype) || is_float(dtype))
      store_from_double(dtype, bytes.data(), i, load_as_double(data.dtype, (*whole)->data(), i % had));
    else
      store_from_int64(dtype, bytes.data(), i, load_as_int64(data.dtype, (*whole)->data(), i % had));
  }
  out.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
  out.load = nullptr;
  return out;
}

class Rebuild {
 public:
  Rebuild(const Graph& from, const Edit& edit) : from_(from), edit_(edit) {}

  Graph run() {
    out_.name = from_.name;
    mark();
    for (const ValueId v : from_.inputs)
      if (needed_.contains(v)) copy_input(v, from_.type(v));
    for (const NodeId id : from_.order()) copy_node(id);
    for (const size_t i : kept())
      out_.add_output(map_.at(target(from_.outputs[i])), from_.value(target(from_.outputs[i])).name);
    for (const ValueId v : out_.inputs)
      for (const Dim& d : out_.type(v).dims)
        for (const std::string& s : d.symbols())
          if (const auto at = from_.symbols.find(s); at != from_.symbols.end()) out_.symbols.insert(*at);
    return std::move(out_);
  }

 private:
  std::vector<size_t> kept() const {
    std::vector<size_t> all = edit_.outputs;
    for (size_t i = 0; edit_.outputs.empty() && i < from_.outputs.size(); ++i) all.push_back(i);
    std::set<ValueId> seen;  // two outputs may have become one value
    std::erase_if(all, [&](size_t i) { return !seen.insert(target(from_.outputs[i])).second; });
    return all;
  }
  ValueId target(ValueId v) const {
    for (auto at = edit_.redirect.find(v); at != edit_.redirect.end(); at = edit_.redirect.find(v))
      v = at->second;
    return v;
  }
  const std::vector<ValueId>& operands(NodeId id) const {
    const auto at = edit_.operands.find(id);
    return at == edit_.operands.end() ? from_.node(id).operands : at->second;
  }
  void mark() {
    std::vector<ValueId> work;
    for (const size_t i : kept()) work.push_back(target(from_.outputs[i]));
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (!needed_.insert(v).second || edit_.to_input.contains(v) || from_.producer(v) == nullptr) continue;
      for (const ValueId o : operands(from_.value(v).producer))
        if (o != kNone) work.push_back(target(o));
    }
  }
  void copy_input(ValueId v, Type type) {
    for (Dim& d : type.dims) {
      d = d.substitute(edit_.symbols);
      if (edit_.extent && d.is_static()) d = edit_.extent(*d.value());
    }
    if (edit_.dtype) type.dtype = edit_.dtype(type.dtype);
    map_[v] = out_.add_input(from_.value(v).name, std::move(type));
  }
  void copy_node(NodeId id) {
    const Node& node = from_.node(id);
    bool any = false;
    for (const ValueId v : node.results) {
      if (needed_.contains(v) && edit_.to_input.contains(v)) copy_input(v, edit_.to_input.at(v));
      any = any || (needed_.contains(v) && !edit_.to_input.contains(v));
    }
    if (!any) return;
    if (node.op == Op::constant) return copy_constant(node);
    std::vector<ValueId> mapped;
    for (const ValueId o : operands(id)) mapped.push_back(o == kNone ? kNone : map_.at(target(o)));
    AttrMap attrs = edit_.attrs.contains(id) ? edit_.attrs.at(id) : node.attrs;
    for (auto& [name, attr] : attrs)
      if (auto* dtype = std::get_if<DType>(&attr); dtype != nullptr && edit_.dtype)
        *dtype = edit_.dtype(*dtype);
    const NodeId copy = out_.add_node(node.op, mapped, std::vector<Type>(node.results.size()),
                                      std::move(attrs), node.sources);
    if (node.onnx) out_.node(copy).onnx = std::make_unique<OnnxName>(*node.onnx);
    for (size_t i = 0; i < node.results.size(); ++i) {
      if (!map_.contains(node.results[i])) map_[node.results[i]] = out_.node(copy).results[i];
      out_.value(out_.node(copy).results[i]).name = edit_.to_input.contains(node.results[i])
                                                        ? "unused_" + std::to_string(node.results[i])
                                                        : from_.value(node.results[i]).name;
    }
  }
  void copy_constant(const Node& node) {
    const ValueId v = node.results[0];
    TensorData data = edit_.constant.contains(v) ? edit_.constant.at(v) : *node.data;
    if (edit_.extent || edit_.dtype) {
      std::vector<int64_t> dims = data.dims;
      const bool numbers = !is_float(data.dtype) && dims.size() == 1;  // sizes and axes keep their number
      if (edit_.extent && !numbers)
        for (int64_t& d : dims) d = edit_.extent(d);
      data = cut(data, dims, edit_.dtype ? edit_.dtype(data.dtype) : data.dtype);
    }
    map_[v] = out_.add_constant(std::move(data));
    out_.value(map_[v]).name = from_.value(v).name;
  }

  const Graph& from_;
  const Edit& edit_;
  Graph out_;
  std::set<ValueId> needed_;
  std::map<ValueId, ValueId> map_;
};

// Types of all values, as lowering infers them; kNone's place is empty where it refuses the graph.
std::optional<std::vector<Type>> types_of(const Graph& graph) {
  Graph trial = graph.clone();
  const size_t first = trial.outputs.size();
  for (ValueId v = 0; v < graph.value_capacity(); ++v) trial.add_output(v, "t" + std::to_string(v));
  if (!lower_onnx(trial).ok()) return std::nullopt;
  std::vector<Type> types;
  for (ValueId v = 0; v < graph.value_capacity(); ++v) types.push_back(trial.type(trial.outputs[first + v]));
  return types;
}

class Shrinker {
 public:
  Shrinker(Graph graph, const std::function<bool(const Graph&)>& fails, int seconds)
      : graph_(std::move(graph)),
        fails_(fails),
        end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}

  Graph run() {
    while (!late() && (outputs() | nodes() | operands() | attributes() | symbols() | extents() | constants() |
                       dtypes())) {
    }
    return std::move(graph_);
  }

 private:
  bool late() const { return std::chrono::steady_clock::now() > end_; }
  bool keep(const Edit& edit) {
    if (late()) return false;
    Graph smaller = Rebuild(graph_, edit).run();
    if (smaller.outputs.empty() || !types_of(smaller) || !fails_(smaller)) return false;
    graph_ = std::move(smaller);
    return true;
  }
  bool outputs() {
    if (graph_.outputs.size() < 2) return false;
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      if (keep({.outputs = {i}})) return true;
    bool any = false;
    for (size_t i = graph_.outputs.size(); i-- > 0 && graph_.outputs.size() > 1;) {
      Edit edit;
      for (size_t k = 0; k < graph_.outputs.size(); ++k)
        if (k != i) edit.outputs.push_back(k);
      any = keep(edit) || any;
    }
    return any;
  }
  // Every node: its result becomes an operand of the same type, or an input.
  bool nodes() {
    bool any = false;
    for (size_t turn = graph_.node_capacity(); turn-- > 0;) {
      const auto types = types_of(graph_);
      if (!types || turn >= graph_.node_capacity() ||
          graph_.node(static_cast<NodeId>(turn)).op == Op::constant)
        continue;
      const Node& node = graph_.node(static_cast<NodeId>(turn));
      const ValueId v = node.results[0];
      bool done = false;
      for (const ValueId o : node.operands)
        done = done || (o != kNone && node.results.size() == 1 && (*types)[o] == (*types)[v] &&
                        keep({.redirect = {{v, o}}}));
      if (!done) {
        Edit edit;
        for (const ValueId result : node.results) edit.to_input[result] = (*types)[result];
        done = keep(edit);
      }
      any = any || done;
    }
    return any;
  }
  bool operands() {  // optional ones left out; two alike made one
    bool any = false;
    for (NodeId id = 0; id < graph_.node_capacity(); ++id) {
      for (size_t i = graph_.node(id).operands.size(); i-- > 1;) {
        if (id >= graph_.node_capacity() || i >= graph_.node(id).operands.size()) break;
        std::vector<ValueId> list = graph_.node(id).operands;
        if (i + 1 == list.size())
          list.pop_back();
        else if (list[i] != kNone)
          list[i] = kNone;
        else
          continue;
        any = keep({.operands = {{id, list}}}) || any;
      }
    }
    return any;
  }
  bool attributes() {
    bool any = false;
    for (NodeId id = 0; id < graph_.node_capacity(); ++id) {
      std::vector<std::string> names;
      for (const auto& [name, attr] : graph_.node(id).attrs) names.push_back(name);
      for (const std::string& name : names) {
        if (id >= graph_.node_capacity() || !graph_.node(id).attrs.contains(name)) break;
        AttrMap fewer = graph_.node(id).attrs;
        fewer.erase(name);
        any = keep({.attrs = {{id, fewer}}}) || any;
      }
    }
    return any;
  }
  bool symbols() {
    bool any = false;
    std::set<std::string> names;
    for (const ValueId v : graph_.inputs)
      for (const Dim& d : graph_.type(v).dims)
        for (std::string& s : d.symbols()) names.insert(std::move(s));
    for (const std::string& name : names)
      for (const int64_t value : {1, 2, 3, 4, 7}) {
        if (!keep({.symbols = {{name, Dim(value)}}})) continue;
        any = true;
        break;
      }
    return any;
  }
  bool extents() {
    std::set<int64_t> extents;
    for (const ValueId v : graph_.inputs)
      for (const Dim& d : graph_.type(v).dims)
        if (d.is_static()) extents.insert(*d.value());
    for (ValueId v = 0; v < graph_.value_capacity(); ++v)
      if (const TensorData* data = graph_.constant(v)) extents.insert(data->dims.begin(), data->dims.end());
    bool any = false;
    for (auto it = extents.rbegin(); it != extents.rend(); ++it) {
      for (const int64_t smaller : {int64_t{1}, int64_t{2}, *it / 2, *it - 1}) {
        if (smaller < 1 || smaller >= *it) continue;
        Edit edit;
        edit.extent = [&](int64_t d) { return d == *it ? smaller : d; };
        if (!keep(edit)) continue;
        any = true;
        break;
      }
    }
    return any;
  }
  bool constants() {
    bool any = false;
    for (ValueId v = 0; v < graph_.value_capacity(); ++v) {
      const TensorData* data = graph_.constant(v);
      if (data == nullptr || data->splat || data->count() < 2 || !is_float(data->dtype)) continue;
      for (const double value : {1.0, 0.5, 0.0}) {
        if (!keep({.constant = {{v, splat(data->dtype, data->dims, value)}}})) continue;
        any = true;
        break;
      }
    }
    return any;
  }
  bool dtypes() {
    bool any = false;
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto from = static_cast<DType>(i);
      if (!is_float(from) || from == DType::float32) continue;
      bool used = false;
      for (ValueId v = 0; v < graph_.value_capacity(); ++v) {
        const bool leaf = graph_.producer(v) == nullptr || graph_.is_constant(v);
        used = used || (leaf && graph_.type(v).dtype == from);
      }
      if (!used) continue;
      Edit edit;
      edit.dtype = [from](DType t) { return t == from ? DType::float32 : t; };
      any = keep(edit) || any;
    }
    return any;
  }

  Graph graph_;
  const std::function<bool(const Graph&)>& fails_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace

Graph shrink(Graph graph, const std::function<bool(const Graph&)>& fails, int seconds) {
  return Shrinker(std::move(graph), fails, seconds).run();
}

}  // namespace ge::test
