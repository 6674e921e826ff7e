// The canonical writer: keys in the order of docs/graph-format.md, small tensors inline, the others in one
// safetensors file.
#include "compiler/source/graph_json_write.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "compiler/ir/opset.h"
#include "compiler/source/body_reader.h"
#include "document/base64.h"
#include "document/writer.h"
#include "numeric/convert.h"
#include "platform/file.h"
#include "tensor_file/safetensors.h"

namespace ge {
namespace {

constexpr int64_t kMaxInlineElements = 16;

void write_number(DocumentBuilder& b, DType dtype, const std::byte* bytes, int64_t index) {
  if (dtype == DType::float64) {
    b.value(load_as_double(dtype, bytes, index));
  } else if (is_float(dtype)) {
    b.value(static_cast<float>(load_as_double(dtype, bytes, index)));
  } else if (is_bool(dtype)) {
    b.value(load_as_int64(dtype, bytes, index) != 0);
  } else if (dtype == DType::uint64) {
    b.value(static_cast<uint64_t>(load_as_int64(dtype, bytes, index)));
  } else {
    b.value(load_as_int64(dtype, bytes, index));
  }
}

// Whether every element comes back with the same bits from its number (a NaN may carry bits that no number
// has, a bool may hold 2).
bool survives_text(DType dtype, const ByteBuffer& bytes, int64_t count) {
  ByteBuffer again = ByteBuffer::allocate(bytes.size(), true);
  for (int64_t i = 0; i < count; ++i) {
    if (is_float(dtype)) {
      const double value = load_as_double(dtype, bytes.data(), i);
      store_from_double(dtype, again.data(), i,
                        std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
    } else {
      store_from_int64(dtype, again.data(), i, load_as_int64(dtype, bytes.data(), i));
    }
  }
  return std::equal(bytes.span().begin(), bytes.span().end(), again.span().begin());
}

class Writer {
 public:
  explicit Writer(std::string weights_file) : weights_file_(std::move(weights_file)) {}

  Result<GraphText> run(const Graph& graph) {
    b_.begin_object().member("format", "ge-graph/1");
    if (!graph.name.empty()) b_.member("name", graph.name);
    GE_ASSIGN(const int opset, opset_of(graph));
    b_.member("opset", opset);
    write_dims(graph.symbols);
    GE_TRY(write_body(graph, 0));
    b_.end_object();
    GraphText text;
    text.json = to_json(std::move(b_).finish(), 2) + "\n";
    if (!tensors_.empty()) {
      GE_ASSIGN(text.weights, write_safetensors(tensors_));
    }
    return text;
  }

 private:
  // Nodes of functions that an ONNX file had may be of another opset than the others.
  static Result<int> opset_of(const Graph& graph) {
    std::optional<int> opset;
    for (NodeId id = 0; id < graph.node_capacity(); ++id) {
      const Node& node = graph.node(id);
      if (!node.alive || !node.onnx || !node.onnx->domain.empty()) continue;
      if (!opset) opset = node.onnx->version;
      if (*opset == node.onnx->version) continue;
      return fail(Code::unsupported_feature)
          .say("a graph with nodes of two opsets cannot be written as graph.json")
          .because("found " + std::to_string(*opset) + " and " + std::to_string(node.onnx->version));
    }
    return opset.value_or(kNewestOpset);
  }

  void write_dims(const SymbolRanges& symbols) {
    if (symbols.empty()) return;
    b_.key("dims").begin_object();
    for (const auto& [name, range] : symbols) {
      b_.key(name).begin_object().member("min", range.min);
      if (range.max != INT64_MAX) b_.member("max", range.max);
      b_.member("opt", range.opt).end_object();
    }
    b_.end_object();
  }

  void write_shape(const Dims& dims) {
    b_.key("shape").begin_array();
    for (const Dim& d : dims) {
      if (d.is_static()) {
        b_.value(*d.value());
      } else {
        b_.value(d.to_string());
      }
    }
    b_.end_array();
  }

  // `captured`: how many of the last inputs are values of the graph around this one.
  Status write_body(const Graph& graph, size_t captured) {
    b_.key("inputs").begin_array();
    for (size_t i = 0; i + captured < graph.inputs.size(); ++i) {
      const ValueInfo& value = graph.value(graph.inputs[i]);
      b_.begin_object().member("name", value.name).member("dtype", name_of(value.type.dtype));
      write_shape(value.type.dims);
      b_.end_object();
    }
    b_.end_array().key("outputs").begin_array();
    for (const std::string& name : graph.output_names) b_.value(name);
    b_.end_array();
    GE_TRY(write_initializers(graph));
    b_.key("nodes").begin_array();
    for (NodeId id = 0; id < graph.node_capacity(); ++id) {
      const Node& node = graph.node(id);
      if (node.alive && node.op != Op::constant) GE_TRY(write_node(graph, node));
    }
    b_.end_array();
    return {};
  }

  Status write_initializers(const Graph& graph) {
    bool any = false;
    for (NodeId id = 0; id < graph.node_capacity(); ++id) {
      const Node& node = graph.node(id);
      if (!node.alive || node.op != Op::constant) continue;
      if (!any) b_.key("initializers").begin_array();
      any = true;
      const std::string& name = graph.value(node.results[0]).name;
      b_.begin_object().member("name", name);
      GE_TRY(write_tensor(*node.data, name));
      b_.end_object();
    }
    if (any) b_.end_array();
    return {};
  }

  Status write_node(const Graph& graph, const Node& node) {
    if (node.op != Op::onnx) {
      return fail(Code::unsupported_feature)
          .say("a graph of core ops cannot be written as graph.json")
          .because("found " + std::string(name_of(node.op)));
    }
    const size_t captured = captures_of(node);
    b_.begin_object();
    if (!node.sources.empty() && !node.sources[0].name.empty()) b_.member("name", node.sources[0].name);
    b_.member("op", node.onnx->type);
    if (!node.onnx->domain.empty()) b_.member("domain", node.onnx->domain);
    b_.key("inputs").begin_array();
    for (size_t i = 0; i + captured < node.operands.size(); ++i) {
      b_.value(node.operands[i] == kNone ? std::string() : graph.value(node.operands[i]).name);
    }
    b_.end_array().key("outputs").begin_array();
    for (const ValueId v : node.results) b_.value(graph.value(v).name);
    b_.end_array();
    GE_TRY(write_attributes(node, captured));
    b_.end_object();
    return {};
  }

  static size_t captures_of(const Node& node) {
    const auto at = node.attrs.find(kCapturesAttr);
    return at == node.attrs.end() ? 0 : std::get<std::vector<std::string>>(at->second).size();
  }

  Status write_attributes(const Node& node, size_t captured) {
    if (node.attrs.size() == node.attrs.count(kCapturesAttr)) return {};
    b_.key("attributes").begin_object();
    for (const auto& [name, attr] : node.attrs) {
      if (name == kCapturesAttr) continue;
      b_.key(name);
      GE_TRY(write_attribute(attr, captured));
    }
    b_.end_object();
    return {};
  }

  template <class T>
  void write_list(const std::vector<T>& list) {
    b_.begin_array();
    for (const T& v : list) b_.value(v);
    b_.end_array();
  }

  Status write_attribute(const Attr& attr, size_t captured) {
    if (const auto* integer = std::get_if<int64_t>(&attr))
      b_.value(*integer);
    else if (const auto* number = std::get_if<double>(&attr))
      b_.value(*number);
    else if (const auto* text = std::get_if<std::string>(&attr))
      b_.value(*text);
    else if (const auto* dtype = std::get_if<DType>(&attr))
      b_.value(name_of(*dtype));
    else if (const auto* integers = std::get_if<std::vector<int64_t>>(&attr))
      b_.integers(*integers);
    else if (const auto* numbers = std::get_if<std::vector<double>>(&attr))
      write_list(*numbers);
    else if (const auto* texts = std::get_if<std::vector<std::string>>(&attr))
      write_list(*texts);
    else if (const auto* tensor = std::get_if<TensorAttr>(&attr)) {
      b_.begin_object().key("tensor").begin_object();
      GE_TRY(write_tensor(tensor->data, ""));
      b_.end_object().end_object();
    } else if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attr)) {
      b_.begin_object().key("graph").begin_object();
      if (!(*body)->name.empty()) b_.member("name", (*body)->name);
      GE_TRY(write_body(**body, captured));
      b_.end_object().end_object();
    } else {
      return fail(Code::unsupported_feature).say("an attribute of dims cannot be written as graph.json");
    }
    return {};
  }

  // dtype, shape and data. Tensors without a name of the graph's own are never put into the file.
  Status write_tensor(const TensorData& data, const std::string& name) {
    b_.member("dtype", name_of(data.dtype)).key("shape").integers(data.dims).key("data");
    if (data.splat && !data.load && survives_text(data.dtype, *data.bytes, 1)) {
      b_.begin_object().key("fill");
      write_number(b_, data.dtype, data.bytes->data(), 0);
      b_.end_object();
      return {};
    }
    GE_ASSIGN(const auto bytes, full_bytes(data));
    const int64_t count = data.count();
    if (count <= kMaxInlineElements && survives_text(data.dtype, *bytes, count)) {
      b_.begin_array();
      for (int64_t i = 0; i < count; ++i) write_number(b_, data.dtype, bytes->data(), i);
      b_.end_array();
    } else if (weights_file_.empty() || name.empty() || bits_of(data.dtype) < 8 || names_.contains(name)) {
      b_.begin_object().member("base64", base64_encode(bytes->span())).end_object();
    } else {
      names_.insert(name);
      kept_.push_back(bytes);
      tensors_.push_back({name, {data.dtype, dims_.emplace_back(data.dims), kept_.back()->span()}});
      b_.begin_object().member("file", weights_file_).member("tensor", name).end_object();
    }
    return {};
  }

  DocumentBuilder b_;
  std::string weights_file_;
  std::vector<NamedTensor> tensors_;
  std::vector<std::shared_ptr<const ByteBuffer>> kept_;
  std::deque<std::vector<int64_t>> dims_;  // what the spans in tensors_ point at
  std::set<std::string> names_;
};

std::string without_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<GraphText> graph_to_json(const Graph& graph, const std::string& weights_file) {
  if (!graph.assertions.empty()) {
    return fail(Code::unsupported_feature)
        .say("a graph with assertions cannot be written as graph.json")
        .because(graph.assertions.front().message);
  }
  return Writer(weights_file).run(graph);
}

std::string weights_file(const std::string& path) {
  return (path.ends_with(".json") ? path.substr(0, path.size() - 5) : path) + ".safetensors";
}

Status write_graph_json(const Graph& graph, const std::string& path) {
  if (path == "-") {
    GE_ASSIGN(const GraphText text, graph_to_json(graph, ""));
    return write_stdout(as_bytes(text.json));
  }
  const std::string weights = weights_file(path);
  GE_ASSIGN(const GraphText text, graph_to_json(graph, without_folder(weights)));
  // Both or none: the text is on disk before the weights take their place, and takes its own last.
  GE_ASSIGN(AtomicFile json, AtomicFile::create(path));
  GE_TRY(json.write(as_bytes(text.json)));
  if (text.weights.size() > 0) GE_TRY(write_file(weights, text.weights.span()));
  return json.commit();
}

}  // namespace ge
