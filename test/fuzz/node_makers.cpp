// Generic operands and attributes, from an operator's row alone.
#include "fuzz/node_makers.h"

#include <algorithm>
#include <cstdlib>

namespace ge::test {
namespace {

// Words that a string attribute takes, by its name, where its row names no choices. A word an operator does
// not know is refused and another node is tried, so operators may share a name.
const std::map<std::string, std::vector<std::string>>& words() {
  static const std::map<std::string, std::vector<std::string>> table{
      {"auto_pad", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}},
      {"mode", {"nearest", "linear", "cubic"}},
      {"coordinate_transformation_mode", {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}},
      {"nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}}};
  return table;
}

double some_number(GraphMaker& m) {
  static const std::vector<double> kNumbers{0, 1, 0.5, -0.5, 2, 0.01, 0.2, 1e-5, -1, 6};
  return m.random().pick(kNumbers);
}

std::optional<Attr> attribute(GraphMaker& m, const OnnxAttrInfo& info, int64_t rank) {
  Random& r = m.random();
  static const std::vector<DType> kDTypes{DType::float64, DType::float32, DType::float16, DType::bfloat16,
                                          DType::int64,   DType::int32,   DType::int8,    DType::uint8,
                                          DType::uint64,  DType::boolean};
  switch (info.kind) {
    case OnnxAttrKind::kInt:
      if (info.name.find("axis") != std::string::npos) return some_axis(m, rank);
      return r.chance(85) ? r.in(0, 1) : r.in(-2, 4);
    case OnnxAttrKind::kFloat:
      if (info.name == "epsilon") return r.chance(50) ? 1e-5 : 1e-2;
      return some_number(m);
    case OnnxAttrKind::kString: {
      if (!info.choices.empty()) return r.pick(info.choices);
      const auto known = words().find(info.name);
      if (known == words().end()) return std::nullopt;
      return r.pick(known->second);
    }
    case OnnxAttrKind::kInts: {
      if (info.name == "axes") return some_axes(m, rank);
      std::vector<int64_t> list;
      for (int64_t i = 0; i < rank; ++i) list.push_back(r.in(0, 3));
      return list;
    }
    case OnnxAttrKind::kFloats:
      return std::vector<double>{some_number(m), some_number(m)};
    case OnnxAttrKind::kTensor:
      return TensorAttr{splat(r.pick(kDTypes), {1}, static_cast<double>(r.in(-2, 3)))};
    case OnnxAttrKind::kDType:
      return r.pick(kDTypes);
    case OnnxAttrKind::kStrings:
    case OnnxAttrKind::kGraph:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_class(const Operator& op, const OperandInfo& input) {  // int64, index, bool: no letter
  return std::none_of(op.types.begin(), op.types.end(),
                      [&](const TypeInfo& t) { return t.name == input.type && t.name != t.text; });
}

// Sizes, axes and indices: a few small numbers that lowering can know.
ValueId small_integers(GraphMaker& m, DTypeSet allowed, int64_t rank) {
  const DType dtype = allowed.contains(DType::int64) ? DType::int64 : m.some_dtype(allowed);
  Random& r = m.random();
  if (r.chance(50)) return m.ints(some_axes(m, rank), dtype);
  return m.constant(splat(dtype, {}, static_cast<double>(r.in(-3, 3))));
}

std::optional<NodeSpec> make_generic(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  NodeSpec spec;
  size_t count = op.inputs.size();
  const bool variadic = count > 0 && op.inputs.back().variadic;
  if (variadic) count += static_cast<size_t>(r.in(0, 2));
  while (!variadic && count > op.min_inputs && r.chance(60)) --count;
  std::map<std::string, ValueId> first;  // of each letter
  ValueId shape_of = kNone;              // later operands broadcast with the first
  for (size_t i = 0; i < count; ++i) {
    const OperandInfo& info = op.inputs[std::min(i, op.inputs.size() - 1)];
    const DTypeSet allowed = allowed_for_input(op, i);
    const bool plain = is_class(op, info);
    ValueId v = kNone;
    if (const auto at = first.find(info.type); at != first.end() && !plain) {
      v = r.chance(6) ? at->second : m.partner_of(m.type(at->second).dtype, m.type(shape_of).dims, false);
    } else if (plain && allowed.contains(DType::int64) && shape_of != kNone) {
      v = small_integers(m, allowed, m.rank(shape_of));
    } else if (shape_of != kNone) {
      v = m.partner_of(m.some_dtype(allowed), m.type(shape_of).dims, false);
    } else {
      v = m.any(allowed);
    }
    if (v == kNone) return std::nullopt;
    if (shape_of == kNone) shape_of = v;
    if (!plain) first.emplace(info.type, v);
    spec.operands.push_back(v);
  }
  spec.attrs = random_attributes(m, op, shape_of == kNone ? 2 : m.rank(shape_of));
  spec.outputs = std::max<size_t>(op.min_outputs, 1);
  return spec;
}

}  // namespace

DTypeSet allowed_for_input(const Operator& op, size_t input) {
  return op.type_of_input(input).allowed;
}

int64_t some_axis(GraphMaker& m, int64_t rank) {
  return m.random().in(-rank, rank - 1);
}

std::vector<int64_t> some_axes(GraphMaker& m, int64_t rank, bool may_be_empty) {
  Random& r = m.random();
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < rank; ++a)
    if (r.chance(45)) axes.push_back(r.chance(30) ? a - rank : a);
  if (axes.empty() && !may_be_empty && rank > 0) axes.push_back(some_axis(m, rank));
  if (r.chance(30)) std::reverse(axes.begin(), axes.end());
  return axes;
}

AttrMap random_attributes(GraphMaker& m, const Operator& op, int64_t rank) {
  AttrMap attrs;
  for (const OnnxAttrInfo& info : op.attributes) {
    if (!info.required && m.random().chance(45)) continue;
    if (auto value = attribute(m, info, rank)) attrs[info.name] = *std::move(value);
  }
  return attrs;
}

std::optional<NodeSpec> make_node(GraphMaker& m, const Operator& op) {
  for (const NodeMakers* makers : {&math_makers(), &shape_makers(), &rare_makers(), &model_makers()})
    if (const auto at = makers->find(op.row->name); at != makers->end()) return at->second(m, op);
  return make_generic(m, op);
}

}  // namespace ge::test
