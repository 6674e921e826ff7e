// How the plan spells its enumerations. Entry: name_in_plan, value_from_name. Files and JSON hold names,
// never numbers.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "contract/plan.h"

namespace ge {

// In the order of the enum's values.
template <class E>
struct EnumNames;
#define GE_ENUM_NAMES(Type, ...)                                                   \
  template <>                                                                      \
  struct EnumNames<Type> {                                                         \
    static constexpr auto kNames = std::to_array<std::string_view>({__VA_ARGS__}); \
  }
GE_ENUM_NAMES(KernelKind, "builtin", "generated", "library");
GE_ENUM_NAMES(KernelDevice, "cpu", "cuda");
GE_ENUM_NAMES(OperandRole, "in", "out", "inout", "scratch");
GE_ENUM_NAMES(AttrType, "int", "float", "ints", "floats", "string");
GE_ENUM_NAMES(ArgSource, "ptr", "dim", "stride", "count", "view", "attr", "tensor_map", "device_block",
              "launch");
GE_ENUM_NAMES(ArgType, "pointer", "i32", "i64", "f32", "f64", "view", "tensor_map");
GE_ENUM_NAMES(RequirementKind, "extent", "extent_multiple", "extent_at_most", "stride", "stride_multiple",
              "merges", "same_dims");
GE_ENUM_NAMES(Region, "input", "output", "weights", "prepared", "arena", "device_block", "host");
GE_ENUM_NAMES(Relation, "==", "!=", "<", "<=");
GE_ENUM_NAMES(StepKind, "launch", "copy", "fill", "read_dims", "if", "loop");
#undef GE_ENUM_NAMES
namespace plan_names {
constexpr auto dtypes() {
#define GE_NAME(name, bits, cls) #name,
  std::array<std::string_view, kDTypeCount> names = {GE_DTYPES(GE_NAME)};
#undef GE_NAME
  names[static_cast<size_t>(DType::boolean)] = "bool";
  return names;
}
}  // namespace plan_names
template <>
struct EnumNames<DType> {
  static constexpr auto kNames = plan_names::dtypes();
};

template <class E>
constexpr std::span<const std::string_view> enum_names() {
  return EnumNames<E>::kNames;
}
template <class E>
std::string_view name_in_plan(E value) {
  const auto index = static_cast<size_t>(value);
  return index < enum_names<E>().size() ? enum_names<E>()[index] : "?";
}
template <class E>
std::optional<E> value_from_name(std::string_view name) {
  for (size_t i = 0; i < enum_names<E>().size(); ++i) {
    if (enum_names<E>()[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace ge
