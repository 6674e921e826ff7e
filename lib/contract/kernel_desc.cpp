// The owned form of a constexpr kernel row, and look-up of attributes.
#include "contract/kernel_desc.h"

#include <algorithm>

namespace ge {

int64_t size_of(ArgType type) {
  switch (type) {
    case ArgType::kPointer:
      return 8;
    case ArgType::kI32:
      return 4;
    case ArgType::kI64:
      return 8;
    case ArgType::kF32:
      return 4;
    case ArgType::kF64:
      return 8;
    case ArgType::kView:
      return sizeof(TensorView);
    case ArgType::kTensorMap:
      return 128;
  }
  return 0;
}

KernelDesc desc(const KernelRow& row) {
  KernelDesc d;
  d.name = row.name;
  d.revision = row.revision;
  d.kind = row.kind;
  d.device = row.device;
  d.args_size = row.args_size;
  d.limits = row.limits;
  d.symbol = row.symbol;
  d.waits_for_predecessor = row.waits_for_predecessor;
  for (const OperandRow& o : row.operands) {
    d.operands.push_back({std::string(o.name), o.role, o.dtypes, o.min_rank, o.max_rank, o.align_bytes,
                          o.in_place_of, o.optional});
  }
  for (const AttrRow& a : row.attrs)
    d.attrs.push_back({std::string(a.name), a.type, a.min, a.max, a.required});
  for (const ArgRow& a : row.args)
    d.args.push_back({a.offset, a.type, a.source, a.operand, a.a, a.b, std::string(a.attr)});
  return d;
}

const AttrValue* find_attr(const Attrs& attrs, std::string_view name) {
  const auto found =
      std::ranges::find(attrs, name, [](const auto& attr) { return std::string_view(attr.first); });
  return found == attrs.end() ? nullptr : &found->second;
}

int64_t attr_int(const Attrs& attrs, std::string_view name, int64_t fallback, size_t index) {
  const AttrValue* value = find_attr(attrs, name);
  if (!value) return fallback;
  if (const auto* one = std::get_if<int64_t>(value)) return index == 0 ? *one : fallback;
  const auto* list = std::get_if<std::vector<int64_t>>(value);
  return list && index < list->size() ? (*list)[index] : fallback;
}

double attr_float(const Attrs& attrs, std::string_view name, double fallback, size_t index) {
  const AttrValue* value = find_attr(attrs, name);
  if (!value) return fallback;
  if (const auto* one = std::get_if<double>(value)) return index == 0 ? *one : fallback;
  const auto* list = std::get_if<std::vector<double>>(value);
  return list && index < list->size() ? (*list)[index] : fallback;
}

}  // namespace ge
