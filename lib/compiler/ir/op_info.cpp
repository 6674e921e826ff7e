// Tables of the core ops, made from the .def files when first asked for.
#include "compiler/ir/op_info.h"

#include <algorithm>
#include <map>

namespace ge {

namespace {
struct OpRow {
  Op op;
  std::string_view name;
  bool map;
  uint32_t min_operands, max_operands;
  std::string_view attrs, meaning;
  uint16_t code;
};

constexpr OpRow kRows[] = {
#define GE_CORE_OP(op_name, low, high, attr_text, text) \
  {Op::op_name, #op_name, false, low, high, attr_text, text, 0},
#include "compiler/ir/core_ops.def"
#undef GE_CORE_OP
#define GE_SCALAR_OP(op_name, op_code, arity, domain, result, formula) \
  {Op::op_name, #op_name, true, arity, arity, "", formula, op_code},
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
};
constexpr size_t kRowCount = std::size(kRows);

// Row of an op: the enum has `onnx` before the rows, which follow it in order.
const OpRow* row_of(Op op) {
  const auto index = static_cast<size_t>(op);
  return index == 0 || index > kRowCount ? nullptr : &kRows[index - 1];
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + separator.size());
  }
  return parts;
}

constexpr std::pair<std::string_view, AttrKind> kKinds[] = {
    {"int", AttrKind::kInt},    {"double", AttrKind::kDouble},   {"string", AttrKind::kString},
    {"ints", AttrKind::kInts},  {"doubles", AttrKind::kDoubles}, {"strings", AttrKind::kStrings},
    {"dims", AttrKind::kDims},  {"dtype", AttrKind::kDType},     {"tensor", AttrKind::kTensor},
    {"graph", AttrKind::kGraph}};

// "kind: string max|average" -> a spec. "fill?" may be absent. Words after the kind that are no choices are
// remarks for people.
AttrSpec spec_of(std::string_view text) {
  AttrSpec spec;
  const size_t colon = text.find(": ");
  spec.name = text.substr(0, colon);
  const auto words = split(text.substr(colon + 2), " ");
  for (const auto& [word, kind] : kKinds)
    if (word == words[0]) spec.kind = kind;
  if (spec.kind == AttrKind::kString && words.size() > 1)
    for (const std::string_view choice : split(words[1], "|")) spec.choices.emplace_back(choice);
  // Flags and the count of groups have a value that absence means (0, or 1 group).
  spec.required = spec.kind != AttrKind::kInt || spec.name == "axis";
  if (spec.name.ends_with('?')) {
    spec.name.pop_back();
    spec.required = false;
  }
  return spec;
}

std::vector<CoreOpInfo> build_table() {
  std::vector<CoreOpInfo> table;
  for (const OpRow& row : kRows) {
    CoreOpInfo info{row.name, row.min_operands, row.max_operands, {}, row.meaning};
    for (const std::string_view attr : split(row.attrs, ", ")) info.attrs.push_back(spec_of(attr));
    table.push_back(std::move(info));
  }
  return table;
}
}  // namespace

std::string_view name_of(AttrKind kind) {
  return kKinds[static_cast<size_t>(kind)].first;
}
AttrKind kind_of(const Attr& attr) {
  return static_cast<AttrKind>(attr.index());
}

const CoreOpInfo* core_op_info(Op op) {
  static const std::vector<CoreOpInfo> kTable = build_table();
  return row_of(op) == nullptr ? nullptr : &kTable[static_cast<size_t>(op) - 1];
}

const AttrSpec* attr_spec(Op op, std::string_view name) {
  const CoreOpInfo* info = core_op_info(op);
  if (info == nullptr) return nullptr;
  const auto it =
      std::find_if(info->attrs.begin(), info->attrs.end(), [&](const AttrSpec& s) { return s.name == name; });
  return it == info->attrs.end() ? nullptr : &*it;
}

std::vector<Op> core_ops() {
  std::vector<Op> ops;
  for (const OpRow& row : kRows) ops.push_back(row.op);
  return ops;
}

std::string_view name_of(Op op) {
  const OpRow* row = row_of(op);
  return row == nullptr ? std::string_view("onnx") : row->name;
}

std::optional<Op> op_from_name(std::string_view name) {
  static const std::map<std::string_view, Op> kByName = [] {
    std::map<std::string_view, Op> by_name{{"onnx", Op::onnx}};
    for (const OpRow& row : kRows) by_name.emplace(row.name, row.op);
    return by_name;
  }();
  const auto it = kByName.find(name);
  return it == kByName.end() ? std::nullopt : std::optional(it->second);
}

bool is_map(Op op) {
  const OpRow* row = row_of(op);
  return row != nullptr && row->map;
}

std::optional<uint16_t> scalar_code(Op op) {
  return is_map(op) ? std::optional(row_of(op)->code) : std::nullopt;
}

}  // namespace ge
