// How a launch looks at a value: an affine map from the launch's domain to the value's axes. Entry:
// OperandView. Transposes, broadcasts, slices and unit reshapes are all maps; pack turns them into strides.
// Invariant: each axis of the value follows at most one axis of the domain.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace ge {

// Index along one axis of the value: offset + step * i[axis]; axis -1: the offset alone.
struct AxisMap {
  int8_t axis = -1;
  int64_t step = 1;
  Dim offset;
  bool operator==(const AxisMap&) const = default;
};
using AxisMaps = std::vector<AxisMap>;  // one per axis of the value

struct OperandView {
  ValueId value = kNone;  // kNone: an absent optional operand
  Dims domain;            // extents of the view
  AxisMaps axes;
};

// The value as it is.
OperandView whole(const Graph& graph, ValueId value);
// The value under numpy broadcasting to `shape` (right-aligned, unit axes repeated).
OperandView broadcast_to(const Graph& graph, ValueId value, const Dims& shape);
AxisMaps identity_map(size_t rank);
// Maps of the operand's axes from those of the result, for the ops that only move elements.
AxisMaps through_transpose(const AxisMaps& result, const std::vector<int64_t>& perm);
AxisMaps through_broadcast(const AxisMaps& result, const Dims& operand_dims, const Dims& result_dims);
AxisMaps through_slice(const AxisMaps& result, const Dims& starts, const std::vector<int64_t>& steps);
// Empty optional where the reshape does more than add or drop axes of extent 1.
std::optional<AxisMaps> through_unit_reshape(const AxisMaps& result, const Dims& operand_dims,
                                             const Dims& result_dims);
bool is_unit_reshape(const Dims& from, const Dims& to);

}  // namespace ge
