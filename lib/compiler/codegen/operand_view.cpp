#include "compiler/codegen/operand_view.h"

namespace ge {

AxisMaps identity_map(size_t rank) {
  AxisMaps maps(rank);
  for (size_t i = 0; i < rank; ++i) maps[i].axis = static_cast<int8_t>(i);
  return maps;
}

OperandView whole(const Graph& graph, ValueId value) {
  if (value == kNone) return {};
  const Dims& dims = graph.type(value).dims;
  return {value, dims, identity_map(dims.size())};
}

OperandView broadcast_to(const Graph& graph, ValueId value, const Dims& shape) {
  if (value == kNone) return {};
  return {value, shape, through_broadcast(identity_map(shape.size()), graph.type(value).dims, shape)};
}

AxisMaps through_transpose(const AxisMaps& result, const std::vector<int64_t>& perm) {
  AxisMaps maps(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) maps[static_cast<size_t>(perm[i])] = result[i];
  return maps;
}

AxisMaps through_broadcast(const AxisMaps& result, const Dims& operand_dims, const Dims& result_dims) {
  const size_t skip = result_dims.size() - operand_dims.size();
  AxisMaps maps(operand_dims.size());
  for (size_t i = 0; i < operand_dims.size(); ++i) {
    const bool repeated = operand_dims[i].is_value(1) && !result_dims[skip + i].is_value(1);
    if (!repeated) maps[i] = result[skip + i];
  }
  return maps;
}

AxisMaps through_slice(const AxisMaps& result, const Dims& starts, const std::vector<int64_t>& steps) {
  AxisMaps maps = result;
  for (size_t i = 0; i < maps.size(); ++i) {
    maps[i].offset = starts[i] + Dim(steps[i]) * maps[i].offset;
    maps[i].step *= steps[i];
  }
  return maps;
}

bool is_unit_reshape(const Dims& from, const Dims& to) {
  size_t j = 0;
  for (const Dim& dim : from) {
    if (dim.is_value(1)) continue;
    while (j < to.size() && to[j].is_value(1)) ++j;
    if (j == to.size() || !(to[j] == dim)) return false;
    ++j;
  }
  while (j < to.size() && to[j].is_value(1)) ++j;
  return j == to.size();
}

std::optional<AxisMaps> through_unit_reshape(const AxisMaps& result, const Dims& operand_dims,
                                             const Dims& result_dims) {
  if (!is_unit_reshape(operand_dims, result_dims)) return std::nullopt;
  AxisMaps maps(operand_dims.size());
  size_t j = 0;
  for (size_t i = 0; i < operand_dims.size(); ++i) {
    if (operand_dims[i].is_value(1)) continue;
    while (result_dims[j].is_value(1)) ++j;
    maps[i] = result[j++];
  }
  return maps;
}

}  // namespace ge
