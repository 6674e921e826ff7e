// ops.def as a table: parses each row's signature once and answers look-ups.
#include "compiler/onnx_ops/registry.h"

#include <algorithm>
#include <set>

#include "compiler/onnx_ops/op_context.h"

namespace ge {

#define GE_ONNX_OP(function, ...) Results lower_##function(OpContext&);
#include "compiler/onnx_ops/ops.def"
#undef GE_ONNX_OP

namespace {

struct RowAndFunction {
  OperatorRow row;
  LowerFunction lower;
};
const RowAndFunction kRows[] = {
#define GE_ONNX_OP(function, ...) {OperatorRow{__VA_ARGS__}, &lower_##function},
#include "compiler/onnx_ops/ops.def"
#undef GE_ONNX_OP
};

std::string trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(' ');
  if (from == std::string_view::npos) return "";
  return std::string(text.substr(from, text.find_last_not_of(' ') - from + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// "name: rest" -> {name, rest}; rest is "" without a colon.
std::pair<std::string, std::string> split_colon(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {trimmed(std::string_view(text).substr(0, colon)),
          trimmed(std::string_view(text).substr(colon + 1))};
}

bool take_suffix(std::string& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.resize(text.size() - suffix.size());
  return true;
}

std::vector<OperandInfo> parse_operands(std::string_view text) {
  std::vector<OperandInfo> list;
  for (const std::string& part : split(text, ',')) {
    auto [name, type] = split_colon(part);
    OperandInfo info;
    info.optional = take_suffix(name, "?");
    info.variadic = take_suffix(name, "...");
    info.name = name;
    info.type = type;
    list.push_back(std::move(info));
  }
  return list;
}

std::optional<OnnxAttrKind> kind_from_name(std::string_view name) {
  static constexpr std::pair<std::string_view, OnnxAttrKind> kKinds[] = {
      {"int", OnnxAttrKind::kInt},       {"float", OnnxAttrKind::kFloat},
      {"string", OnnxAttrKind::kString}, {"ints", OnnxAttrKind::kInts},
      {"floats", OnnxAttrKind::kFloats}, {"strings", OnnxAttrKind::kStrings},
      {"tensor", OnnxAttrKind::kTensor}, {"graph", OnnxAttrKind::kGraph},
      {"dtype", OnnxAttrKind::kDType}};
  for (const auto& [text, kind] : kKinds) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

std::optional<std::vector<OnnxAttrInfo>> parse_attributes(std::string_view text) {
  std::vector<OnnxAttrInfo> list;
  for (const std::string& part : split(text, ',')) {
    auto [name, rest] = split_colon(part);
    OnnxAttrInfo info;
    const bool optional = take_suffix(name, "?");
    const size_t equals = rest.find('=');
    if (equals != std::string::npos) info.default_text = trimmed(std::string_view(rest).substr(equals + 1));
    const std::vector<std::string> words = split(trimmed(std::string_view(rest).substr(0, equals)), ' ');
    const auto kind = words.empty() || words.size() > 2 ? std::nullopt : kind_from_name(words[0]);
    if (!kind || (words.size() == 2 && *kind != OnnxAttrKind::kString)) return std::nullopt;
    if (words.size() == 2) info.choices = split(words[1], '|');
    info.name = name;
    info.kind = *kind;
    info.required = !optional && info.default_text.empty();
    list.push_back(std::move(info));
  }
  return list;
}

void set_counts(const std::vector<OperandInfo>& list, size_t& least, size_t& most) {
  least = 0;
  most = list.size();
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].optional) least = i + 1;
    if (list[i].variadic) most = SIZE_MAX;
  }
}

// Fills `types` with the letters and with every class an input names; false where a word is unknown.
bool parse_types(Operator& op) {
  for (const std::string& part : split(op.row->types, ';')) {
    const auto [name, text] = split_colon(part);
    op.types.push_back({name, text, dtype_class(text)});
  }
  for (const OperandInfo& input : op.inputs) {
    const bool known = std::any_of(op.types.begin(), op.types.end(),
                                   [&](const TypeInfo& t) { return t.name == input.type; });
    if (!known) op.types.push_back({input.type, input.type, dtype_class(input.type)});
  }
  return std::all_of(op.types.begin(), op.types.end(),
                     [](const TypeInfo& t) { return t.allowed.bits() != 0; });
}

struct Registry {
  std::vector<Operator> rows;
  std::vector<std::string> faults;

  Registry() {
    for (const RowAndFunction& entry : kRows) add(entry);
    std::stable_sort(rows.begin(), rows.end(), [](const Operator& a, const Operator& b) {
      return std::tuple(std::string_view(a.row->domain), std::string_view(a.row->name), a.row->since) <
             std::tuple(std::string_view(b.row->domain), std::string_view(b.row->name), b.row->since);
    });
  }

  void add(const RowAndFunction& entry) {
    Operator op;
    op.row = &entry.row;
    op.lower = entry.lower;
    op.inputs = parse_operands(entry.row.inputs);
    op.outputs = parse_operands(entry.row.outputs);
    auto attributes = parse_attributes(entry.row.attributes);
    if (!attributes || !parse_types(op)) {
      faults.push_back(std::string(entry.row.name) + ": a word of its signature is unknown");
      return;
    }
    op.attributes = std::move(*attributes);
    set_counts(op.inputs, op.min_inputs, op.max_inputs);
    set_counts(op.outputs, op.min_outputs, op.max_outputs);
    rows.push_back(std::move(op));
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

constexpr DTypeSet kFloats = {DType::float64, DType::float32, DType::float16, DType::bfloat16};
constexpr DTypeSet kSigned = {DType::int64, DType::int32, DType::int16, DType::int8};
constexpr DTypeSet kUnsigned = {DType::uint64, DType::uint32, DType::uint16, DType::uint8};

DTypeSet class_or_dtype(std::string_view word) {
  if (word == "float") return kFloats;
  if (word == "signed") return kSigned;
  if (word == "integer") return kSigned | kUnsigned;
  if (word == "number") return kFloats | kSigned | kUnsigned;
  if (word == "index") return {DType::int64, DType::int32};
  if (word == "any") return DTypeSet::from_bits((1u << kDTypeCount) - 1);
  const auto dtype = dtype_from_name(word);
  return dtype ? DTypeSet{*dtype} : DTypeSet{};
}

}  // namespace

std::string_view name_of(OnnxAttrKind kind) {
  switch (kind) {
    case OnnxAttrKind::kInt:
      return "an integer";
    case OnnxAttrKind::kFloat:
      return "a number";
    case OnnxAttrKind::kString:
      return "a string";
    case OnnxAttrKind::kInts:
      return "a list of integers";
    case OnnxAttrKind::kFloats:
      return "a list of numbers";
    case OnnxAttrKind::kStrings:
      return "a list of strings";
    case OnnxAttrKind::kTensor:
      return "a tensor";
    case OnnxAttrKind::kGraph:
      return "a graph";
    case OnnxAttrKind::kDType:
      return "a dtype";
  }
  return "";
}

const OnnxAttrInfo* Operator::attribute(std::string_view name) const {
  for (const OnnxAttrInfo& info : attributes) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const TypeInfo& Operator::type_of_input(size_t index) const {
  const std::string& name = inputs[std::min(index, inputs.size() - 1)].type;
  return *std::find_if(types.begin(), types.end(), [&](const TypeInfo& t) { return t.name == name; });
}

std::string Operator::input_name(size_t index) const {
  return inputs.empty() ? "" : inputs[std::min(index, inputs.size() - 1)].name;
}

std::span<const Operator> onnx_operators() {
  return registry().rows;
}
std::span<const std::string> registry_faults() {
  return registry().faults;
}

const Operator* find_operator(std::string_view domain, std::string_view name, int version) {
  const Operator* best = nullptr;
  const auto& rows = registry().rows;
  auto at = std::lower_bound(
      rows.begin(), rows.end(), std::pair(domain, name), [](const Operator& op, const auto& key) {
        return std::pair(std::string_view(op.row->domain), std::string_view(op.row->name)) < key;
      });
  for (; at != rows.end() && domain == at->row->domain && name == at->row->name; ++at) {
    if (at->row->since <= version) best = &*at;
  }
  return best;
}

std::vector<std::string> operator_names(std::string_view domain) {
  std::set<std::string> names;
  for (const Operator& op : registry().rows) {
    if (domain == op.row->domain) names.insert(op.row->name);
  }
  return {names.begin(), names.end()};
}

int first_version(std::string_view domain, std::string_view name) {
  for (const Operator& op : registry().rows) {
    if (domain == op.row->domain && name == op.row->name) return op.row->since;
  }
  return 0;
}

std::string to_string(DTypeSet set) {
  std::string text;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!set.contains(dtype)) continue;
    if (!text.empty()) text += ", ";
    text += name_of(dtype);
  }
  return text;
}

DTypeSet dtype_class(std::string_view text) {
  DTypeSet set;
  for (const std::string& word : split(text, '|')) {
    const DTypeSet part = class_or_dtype(word);
    if (part.bits() == 0) return {};
    set = set | part;
  }
  return set;
}

}  // namespace ge
