// Graphs as text. Entry: print. The grammar stands in text.h.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_literals.h"
#include "contract/hash.h"

namespace ge {

namespace {
class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void graph(const Graph& g) {
    out_ += "graph " + (g.name.empty() ? std::string() : "@" + name_text(g.name) + " ");
    parameters(g);
    symbols(g);
    out_ += " ";
    block(g);
  }
  std::string take() { return std::move(out_); }

 private:
  static std::string name_text(const std::string& name) {
    return is_plain_ir_name(name) ? name : quoted(name);
  }

  std::string value_text(const Graph& g, ValueId v) {
    if (v == kNone) return "_";
    const std::string& name = g.value(v).name;
    if (!name.empty()) return "%" + name_text(name);
    auto& numbers = *numbers_;
    const auto [it, added] = numbers.emplace(v, numbers.size());
    return "%" + std::to_string(it->second);
  }

  void parameters(const Graph& g) {
    // Each graph numbers its nameless values from 0; a body starts anew and the outer numbers come back after
    // it.
    out_ += "(";
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      out_ += (i > 0 ? ", " : "") + value_text(g, g.inputs[i]) + ": " + to_string(g.type(g.inputs[i]));
    }
    out_ += ")";
  }

  void symbols(const Graph& g) {
    if (g.symbols.empty()) return;
    out_ += " symbols(";
    bool first = true;
    for (const auto& [name, range] : g.symbols) {
      out_ += (first ? "" : ", ") + Dim::symbol(name).to_string() + " " + std::to_string(range.min) + "..";
      if (range.max != INT64_MAX) out_ += std::to_string(range.max);
      out_ += " opt " + std::to_string(range.opt);
      first = false;
    }
    out_ += ")";
  }

  void block(const Graph& g) {
    out_ += "{\n";
    indent_ += 2;
    for (const Graph::Assertion& a : g.assertions) {
      line_start();
      out_ += "assert " + a.lhs.to_string() + " == " + a.rhs.to_string() + " " + quoted(a.message);
      if (options_.sources && !a.source.path.empty()) out_ += "  // " + source_text(a.source);
      out_ += "\n";
    }
    for (const NodeId id : g.order()) node(g, g.node(id));
    line_start();
    out_ += "return";
    for (size_t i = 0; i < g.outputs.size(); ++i) {
      out_ += (i > 0 ? ", " : " ") + value_text(g, g.outputs[i]);
      if (i < g.output_names.size() && !g.output_names[i].empty()) out_ += " as " + quoted(g.output_names[i]);
    }
    out_ += "\n";
    indent_ -= 2;
    line_start();
    out_ += "}";
    if (indent_ == 0) out_ += "\n";
  }

  void line_start() { out_.append(static_cast<size_t>(indent_), ' '); }

  void node(const Graph& g, const Node& n) {
    line_start();
    // Operands are named first: numbers grow in the order of the text.
    std::string operands;
    for (size_t i = 0; i < n.operands.size(); ++i)
      operands += (i > 0 ? ", " : "") + value_text(g, n.operands[i]);
    for (size_t i = 0; i < n.results.size(); ++i) out_ += (i > 0 ? ", " : "") + value_text(g, n.results[i]);
    out_ += (n.results.empty() ? "" : " = ") + op_text(n);
    if (n.op == Op::constant && n.data) {
      out_ += " " + tensor_text(*n.data);
    } else {
      out_ += "(" + operands + ")";
      attributes(n);
      for (size_t i = 0; i < n.results.size(); ++i)
        out_ += (i > 0 ? ", " : " : ") + to_string(g.type(n.results[i]));
      if (n.body) body(*n.body);
    }
    if (options_.sources && !n.sources.empty()) {
      out_ += "  // ";
      for (size_t i = 0; i < n.sources.size(); ++i) out_ += (i > 0 ? " + " : "") + source_text(n.sources[i]);
    }
    out_ += "\n";
  }

  static std::string source_text(const Source& s) {
    const bool plain =
        !s.path.empty() && s.path != "+" && std::none_of(s.path.begin(), s.path.end(), [](char c) {
          return c == '"' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
        });
    return plain ? s.path : quoted(s.path);
  }

  static std::string op_text(const Node& n) {
    if (n.op != Op::onnx || !n.onnx) return std::string(name_of(n.op));
    std::string text = "onnx.";
    if (!n.onnx->domain.empty()) text += quoted(n.onnx->domain) + ".";
    return text + quoted_unless_word(n.onnx->type) + "@" + std::to_string(n.onnx->version);
  }
  static std::string quoted_unless_word(const std::string& s) {
    const bool word = !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    });
    return word ? s : quoted(s);
  }

  std::string tensor_text(const TensorData& data) const {
    Type type{data.dtype, Dims(data.dims.begin(), data.dims.end())};
    const std::string head = to_string(type) + " ";
    if (data.splat && data.bytes != nullptr)
      return head + "splat " + element_text(data.dtype, data.bytes->data(), 0);
    if (data.load != nullptr && data.count() > options_.max_elements) return head + "bytes unread";
    const auto bytes = full_bytes(data);
    if (!bytes.ok() || *bytes == nullptr) return head + "bytes unreadable";
    if (data.count() > options_.max_elements) return head + "bytes " + hash128_hex((*bytes)->span());
    std::string out = head + "[";
    for (int64_t i = 0; i < data.count(); ++i)
      out += (i > 0 ? ", " : "") + element_text(data.dtype, (*bytes)->data(), i);
    return out + "]";
  }

  void attributes(const Node& n) {
    if (n.attrs.empty()) return;
    out_ += " {";
    bool first = true;
    for (const auto& [name, attr] : n.attrs) {
      out_ += (first ? "" : ", ") + name_text(name) + " = ";
      attribute(attr, attr_spec(n.op, name));
      first = false;
    }
    out_ += "}";
  }

  template <class List, class Text>
  void list(const List& values, std::string_view prefix, Text text) {
    out_ += std::string(prefix) + "[";
    for (size_t i = 0; i < values.size(); ++i) out_ += (i > 0 ? ", " : "") + text(values[i]);
    out_ += "]";
  }

  // A list's element kind shows in its elements; where it does not (empty lists, dims of unknown attributes)
  // a word says it.
  void attribute(const Attr& attr, const AttrSpec* spec) {
    const bool known = spec != nullptr && spec->kind == kind_of(attr);
    const auto prefix = [&](bool empty, std::string_view word) {
      return empty && !known ? word : std::string_view();
    };
    if (const auto* i = std::get_if<int64_t>(&attr)) {
      out_ += std::to_string(*i);
    } else if (const auto* d = std::get_if<double>(&attr)) {
      out_ += double_text(*d);
    } else if (const auto* s = std::get_if<std::string>(&attr)) {
      out_ += quoted(*s);
    } else if (const auto* v = std::get_if<std::vector<int64_t>>(&attr)) {
      list(*v, "", [](int64_t x) { return std::to_string(x); });
    } else if (const auto* w = std::get_if<std::vector<double>>(&attr)) {
      list(*w, prefix(w->empty(), "doubles"), double_text);
    } else if (const auto* t = std::get_if<std::vector<std::string>>(&attr)) {
      list(*t, prefix(t->empty(), "strings"), [](const std::string& x) { return quoted(x); });
    } else if (const auto* dims = std::get_if<Dims>(&attr)) {
      list(*dims, prefix(true, "dims"), [](const Dim& x) { return x.to_string(); });
    } else if (const auto* type = std::get_if<DType>(&attr)) {
      out_ += name_of(*type);
    } else if (const auto* tensor = std::get_if<TensorAttr>(&attr)) {
      out_ += "tensor " + tensor_text(tensor->data);
    } else if (const auto* sub = std::get_if<std::shared_ptr<Graph>>(&attr);
               sub != nullptr && *sub != nullptr) {
      nested([&] { graph(**sub); });
    }
  }

  void body(const Graph& g) {
    nested([&] {
      out_ += " body ";
      parameters(g);
      out_ += " ";
      block(g);
    });
  }

  template <class F>
  void nested(F f) {
    std::map<ValueId, size_t> inner;
    auto* outer = std::exchange(numbers_, &inner);
    f();
    numbers_ = outer;
  }

  const PrintOptions& options_;
  std::map<ValueId, size_t> top_numbers_;
  std::map<ValueId, size_t>* numbers_ = &top_numbers_;
  std::string out_;
  int indent_ = 0;
};
}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.graph(graph);
  return printer.take();
}

}  // namespace ge
