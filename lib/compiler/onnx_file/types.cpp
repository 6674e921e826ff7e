// Types of inputs, and types that the model declares of other values.
#include <algorithm>

#include "compiler/ir/onnx_dtype.h"
#include "compiler/onnx_file/body.h"
#include "compiler/source/graph_json.h"

namespace ge::onnx_wire {
namespace {

std::string kind_of(const ValueType& type) {
  if (type.has_sequence()) return "a sequence";
  if (type.has_map()) return "a map";
  if (type.has_sparse_tensor()) return "a sparse tensor";
  return type.has_optional_of() ? "an optional" : "no type";
}

std::string label(const ValueInfo& info) {
  return "input '" + printable(info.name()) + "'";
}

std::string sanitized(std::string_view symbol) {
  std::string text = printable(symbol);
  std::erase_if(text, [](char c) { return c == '\'' || c == '\\'; });
  return text.empty() ? "unnamed" : text;
}

}  // namespace

// A name, or an expression of names as exporters write them for dims that follow from others; a text that is
// no expression is a name as a whole.
std::optional<Dim> BodyBuilder::dim_of(const ValueInfo& info, int axis, const Dimension& dimension,
                                       const Place& what) {
  if (dimension.has_value() && dimension.value() != -1) {  // some exporters write unknown as -1
    if (dimension.value() >= 0) return Dim(dimension.value());
    state_.errors.add(
        state_.fault(Code::bad_dim, label(info) + ": dimension is negative", what.text())
            .because("found " + std::to_string(dimension.value()) + " at axis " + std::to_string(axis)));
    return std::nullopt;
  }
  if (dimension.symbol().empty())  // as docs/onnx.md says
    return Dim::symbol(sanitized(info.name()) + "." + std::to_string(axis));
  if (printable(dimension.symbol()) == dimension.symbol()) {
    auto parsed = Dim::parse(std::string(dimension.symbol()));
    if (parsed.ok() && !parsed->is_static()) return *parsed;
  }
  return Dim::symbol(sanitized(dimension.symbol()));
}

std::optional<Dims> BodyBuilder::shape_of(const ValueInfo& info, const Shape& shape, const Place& what) {
  Dims dims;
  const int64_t rank = shape.dim().size();
  if (rank > static_cast<int64_t>(kMaxTensorRank)) {
    state_.errors.add(
        state_.fault(Code::document_limit, label(info) + ": too many dims", what.text())
            .because("found " + std::to_string(rank) + ", allowed up to " + std::to_string(kMaxTensorRank)));
    return std::nullopt;
  }
  int axis = 0;
  for (const Dimension& dimension : shape.dim()) {
    const auto dim = dim_of(info, axis++, dimension, what);
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  if (size_overflows(dims)) {
    state_.errors.add(state_.fault(Code::size_overflow, label(info) + ": tensor size overflows", what.text())
                          .because("found " + to_string(dims)));
    return std::nullopt;
  }
  return dims;
}

std::optional<Type> BodyBuilder::tensor_type(const ValueInfo& info, bool needs_shape, const Place& what) {
  const auto tell = [&](Code code, const std::string& message, const std::string& found,
                        const std::string& fix) {
    state_.errors.add(state_.fault(code, label(info) + message, what.text()).because(found).try_(fix));
  };
  if (!info.type().has_tensor()) {
    if (needs_shape)
      tell(Code::unsupported_feature, " is no tensor", "found " + kind_of(info.type()),
           "export the model with tensors as its inputs");
    return std::nullopt;
  }
  const TensorType& tensor = info.type().tensor();
  const auto dtype = dtype_from_onnx(tensor.elem_type());
  if (!dtype && needs_shape)
    tell(Code::unknown_dtype, ": its dtype is not supported", "found " + onnx_dtype_name(tensor.elem_type()),
         "");
  if (!tensor.has_shape() && needs_shape)
    tell(Code::bad_dim, " has no shape", "its rank is not known",
         "export the model with a shape for it; dims may stay symbolic");
  if (!dtype || !tensor.has_shape()) return std::nullopt;
  auto dims = shape_of(info, tensor.shape(), what);
  return dims ? std::optional(Type{*dtype, std::move(*dims)}) : std::nullopt;
}

// What value_info and the outputs say: compared with what inference gives, when it is known.
void BodyBuilder::read_declared(const onnx_wire::Graph& graph) {
  const auto declare = [&](const ValueInfo& info) {
    const auto at = root_.names.find(info.name());
    if (at == root_.names.end() || at->second == kNone || !info.type().has_tensor()) return;
    const TensorType& tensor = info.type().tensor();
    DeclaredType declared;
    declared.dtype = dtype_from_onnx(tensor.elem_type());
    if (tensor.has_shape()) {
      declared.dims.emplace();
      for (const Dimension& d : tensor.shape().dim())
        declared.dims->push_back(d.has_value() && d.value() >= 0 ? d.value() : -1);
    }
    graph_.value(at->second).declared = std::make_shared<const DeclaredType>(std::move(declared));
  };
  for (const ValueInfo& info : graph.input()) declare(info);
  for (const ValueInfo& info : graph.value_info()) declare(info);
  for (const ValueInfo& info : graph.output()) declare(info);
}

}  // namespace ge::onnx_wire
