// Known contents are compared as dims, tables of constants as numbers.
#include "compiler/ir/constant_indices.h"

#include <algorithm>
#include <vector>

#include "numeric/convert.h"

namespace ge {
namespace {

std::string position_text(int64_t index, const Dims& dims) {
  std::string text;
  for (size_t d = dims.size(); d-- > 0;) {
    const int64_t extent = dims[d].value().value_or(index + 1);
    text = std::to_string(index % extent) + (text.empty() ? "" : ", ") + text;
    index /= extent;
  }
  return "[" + text + "]";
}

bool is_outside(const Dim& index, const Dim& extent, const SymbolRanges& ranges) {
  return (index - extent).bounds(ranges).min >= 0 || (index + extent).bounds(ranges).max < 0;
}

}  // namespace

Result<std::optional<BadIndex>> find_bad_index(const Graph& graph, ValueId indices, const Dims& extents) {
  const ValueInfo& info = graph.value(indices);
  const auto parts = static_cast<int64_t>(extents.size());
  if (const auto& contents = info.contents) {
    for (size_t i = 0; i < contents->size(); ++i) {
      const auto part = static_cast<int64_t>(i) % parts;
      const Dim& index = (*contents)[i];
      if (!is_outside(index, extents[static_cast<size_t>(part)], graph.symbols)) continue;
      return std::optional(
          BadIndex{part, index.to_string(), position_text(static_cast<int64_t>(i), info.type.dims)});
    }
    return std::optional<BadIndex>();
  }
  const Node* node = graph.producer(indices);
  if (node == nullptr || node->op != Op::constant || is_float(info.type.dtype))
    return std::optional<BadIndex>();
  std::vector<int64_t> most;  // no value of the dims makes an extent larger
  for (const Dim& d : extents) most.push_back(d.bounds(graph.symbols).max);
  const TensorData& data = *node->data;
  const bool alike = data.splat && data.load == nullptr;
  std::shared_ptr<const ByteBuffer> bytes = data.bytes;
  if (!alike) {
    GE_ASSIGN(bytes, full_bytes(data));
  }
  const int64_t count = alike ? std::min(data.count(), parts) : data.count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = load_as_int64(info.type.dtype, bytes->data(), alike ? 0 : i);
    const int64_t extent = most[static_cast<size_t>(i % parts)];
    if (index < extent && index >= -extent) continue;
    return std::optional(BadIndex{i % parts, std::to_string(index), position_text(i, info.type.dims)});
  }
  return std::optional<BadIndex>();
}

}  // namespace ge
