// Facts of core_ops.def and scalar_ops.def as tables. Entry: core_op_info, attr_specs.
// Invariant: the table is the .def itself, read once: attributes are never listed a second time.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace ge {

enum class AttrKind : uint8_t {
  kInt,
  kDouble,
  kString,
  kInts,
  kDoubles,
  kStrings,
  kDims,
  kDType,
  kTensor,
  kGraph
};
std::string_view name_of(AttrKind kind);  // "int", "ints", "dims", ...
AttrKind kind_of(const Attr& attr);

struct AttrSpec {
  std::string name;
  AttrKind kind = AttrKind::kInt;
  std::vector<std::string> choices;  // strings only; empty: any
  bool required = true;              // false for flags whose absence means 0
};
struct CoreOpInfo {
  std::string_view name;
  uint32_t min_operands = 0, max_operands = 0;
  std::vector<AttrSpec> attrs;
  std::string_view meaning;
};
// Null for Op::onnx. Scalar ops have a row too: arity operands, no attributes.
const CoreOpInfo* core_op_info(Op op);
// The spec of one attribute; null where the op has none of that name.
const AttrSpec* attr_spec(Op op, std::string_view name);
std::vector<Op> core_ops();  // every op but onnx, in the order of the enum

}  // namespace ge
