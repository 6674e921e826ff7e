// Checks of a node against its row in ops.def: everything that can be said without lowering it.
#include "compiler/onnx_ops/checks.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

std::string count_text(size_t least, size_t most) {
  if (most == SIZE_MAX) return std::to_string(least) + " or more";
  if (least == most) return std::to_string(least);
  return std::to_string(least) + " to " + std::to_string(most);
}

// "(input, min?, max?)"
std::string list_text(const std::vector<OperandInfo>& list) {
  std::string text = "(";
  for (size_t i = 0; i < list.size(); ++i) {
    text += (i ? ", " : "") + list[i].name + (list[i].optional ? "?" : "") + (list[i].variadic ? "..." : "");
  }
  return text + ")";
}

Diagnostic about(const Node& node, Code code, const std::string& message, std::string_view below = "") {
  return fail(code).say(node_label(node) + ": " + message).at(place_of(node)).in(pointer_below(node, below));
}

void check_counts(const Node& node, const Operator& op, ErrorList& errors) {
  const size_t inputs = node.operands.size();
  if (inputs < op.min_inputs || inputs > op.max_inputs) {
    errors.add(about(node, Code::operand_count, "wrong number of inputs", "/inputs")
                   .because("found " + std::to_string(inputs) + ", allowed " +
                            count_text(op.min_inputs, op.max_inputs) + " " + list_text(op.inputs)));
  }
  for (size_t i = 0; i < std::min(inputs, op.inputs.size()); ++i) {
    if (node.operands[i] != kNone || op.inputs[i].optional) continue;
    errors.add(about(node, Code::operand_count, "input '" + op.inputs[i].name + "' is required",
                     "/inputs/" + std::to_string(i))
                   .because("found \"\", which means absent; inputs are " + list_text(op.inputs)));
  }
  const size_t outputs = node.results.size();
  if (outputs < op.min_outputs || outputs > op.max_outputs) {
    errors.add(about(node, Code::operand_count, "wrong number of outputs", "/outputs")
                   .because("found " + std::to_string(outputs) + ", allowed " +
                            count_text(op.min_outputs, op.max_outputs) + " " + list_text(op.outputs)));
  }
}

struct KindName {
  std::string operator()(int64_t v) const { return "the integer " + std::to_string(v); }
  std::string operator()(double v) const { return "the floating-point number " + double_text(v); }
  std::string operator()(const std::string& v) const { return "the string \"" + v + "\""; }
  std::string operator()(const std::vector<int64_t>&) const { return "a list of integers"; }
  std::string operator()(const std::vector<double>&) const { return "a list with floating-point numbers"; }
  std::string operator()(const std::vector<std::string>&) const { return "a list of strings"; }
  std::string operator()(const Dims&) const { return "a list of dims"; }
  std::string operator()(DType v) const { return "the dtype " + std::string(name_of(v)); }
  std::string operator()(const TensorAttr&) const { return "a tensor"; }
  std::string operator()(const std::shared_ptr<Graph>&) const { return "a graph"; }
};

bool is_empty_list(const Attr& value) {
  const auto* ints = std::get_if<std::vector<int64_t>>(&value);
  return ints && ints->empty();
}

bool has_kind(const Attr& value, OnnxAttrKind kind) {
  switch (kind) {
    case OnnxAttrKind::kInt:
      return std::holds_alternative<int64_t>(value);
    case OnnxAttrKind::kFloat:
      return std::holds_alternative<double>(value) || std::holds_alternative<int64_t>(value);
    case OnnxAttrKind::kString:
      return std::holds_alternative<std::string>(value);
    case OnnxAttrKind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(value);
    case OnnxAttrKind::kFloats:
      return std::holds_alternative<std::vector<double>>(value) ||
             std::holds_alternative<std::vector<int64_t>>(value);
    case OnnxAttrKind::kStrings:
      return std::holds_alternative<std::vector<std::string>>(value) || is_empty_list(value);
    case OnnxAttrKind::kTensor:
      return std::holds_alternative<TensorAttr>(value);
    case OnnxAttrKind::kGraph:
      return std::holds_alternative<std::shared_ptr<Graph>>(value);
    case OnnxAttrKind::kDType:
      return std::holds_alternative<int64_t>(value) || std::holds_alternative<std::string>(value) ||
             std::holds_alternative<DType>(value);
  }
  return false;
}

// "/2": the element of a list that is no integer where all must be.
std::string element_below(const Attr& value, OnnxAttrKind kind) {
  const auto* numbers = std::get_if<std::vector<double>>(&value);
  if (kind != OnnxAttrKind::kInts || !numbers) return "";
  const auto is_integral = [](double v) { return std::abs(v) < 0x1p63 && v == std::floor(v); };
  const auto at = std::find_if_not(numbers->begin(), numbers->end(), is_integral);
  return at == numbers->end() ? "" : "/" + std::to_string(at - numbers->begin());
}

std::string kind_fix(const Attr& value, OnnxAttrKind kind) {
  const bool wants_list =
      kind == OnnxAttrKind::kInts || kind == OnnxAttrKind::kFloats || kind == OnnxAttrKind::kStrings;
  const bool is_single = std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value) ||
                         std::holds_alternative<std::string>(value);
  if (wants_list && is_single) return "write a list: [...]";
  if (kind == OnnxAttrKind::kTensor)
    return "write { \"tensor\": { \"dtype\": ..., \"shape\": ..., \"data\": ... } }";
  return "";
}

// `optional`: 0 means that none is asked for.
void check_dtype_value(const Node& node, const std::string& name, const Attr& value, bool optional,
                       ErrorList& errors) {
  std::string found, fix = "use a dtype's name, or its ONNX number";
  if (const auto* number = std::get_if<int64_t>(&value)) {
    if (dtype_from_onnx(*number) || (optional && *number == 0)) return;
    found = "found " + std::to_string(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    if (dtype_from_name(*text)) return;
    found = "found \"" + *text + "\"";
  } else {
    return;
  }
  const DTypeSet all = DTypeSet::from_bits((1u << kDTypeCount) - 1);
  errors.add(about(node, Code::unknown_dtype, "attribute '" + name + "' names no dtype that ge has",
                   "/attributes/" + name)
                 .because(found + "; dtypes are " + to_string(all))
                 .try_(std::move(fix)));
}

void check_choice(const Node& node, const OnnxAttrInfo& info, const std::string& value, ErrorList& errors) {
  if (std::find(info.choices.begin(), info.choices.end(), value) != info.choices.end()) return;
  std::string allowed;
  for (const std::string& choice : info.choices) allowed += (allowed.empty() ? "" : ", ") + choice;
  const std::string near = nearest(value, info.choices);
  errors.add(about(node, Code::bad_attribute, "attribute '" + info.name + "' is not valid",
                   "/attributes/" + info.name)
                 .because("found \"" + value + "\", allowed " + allowed)
                 .try_(near.empty() ? "" : "did you mean \"" + near + "\"?"));
}

void check_attributes(const Node& node, const Operator& op, ErrorList& errors) {
  std::vector<std::string> names;
  for (const OnnxAttrInfo& info : op.attributes) names.push_back(info.name);
  for (const auto& [name, value] : node.attrs) {
    const OnnxAttrInfo* info = op.attribute(name);
    const std::string below = "/attributes/" + name;
    if (!info) {
      std::string known = names.empty() ? "it has none" : "it has ";
      for (size_t i = 0; i < names.size(); ++i) known += (i ? ", " : "") + names[i];
      const std::string near = nearest(name, names);
      errors.add(
          about(node, Code::unknown_attribute, "unknown attribute '" + name + "'", below)
              .because(node.onnx->type + " in opset " + std::to_string(node.onnx->version) + ": " + known)
              .try_(near.empty() ? "remove it" : "did you mean '" + near + "'?"));
    } else if (!has_kind(value, info->kind)) {
      errors.add(about(node, Code::wrong_attribute_type, "attribute '" + name + "' has the wrong type",
                       below + element_below(value, info->kind))
                     .because("found " + std::visit(KindName{}, value) + ", allowed " +
                              std::string(name_of(info->kind)))
                     .try_(kind_fix(value, info->kind)));
    } else if (info->kind == OnnxAttrKind::kDType) {
      check_dtype_value(node, name, value, !info->required, errors);
    } else if (!info->choices.empty()) {
      check_choice(node, *info, std::get<std::string>(value), errors);
    }
  }
  for (const OnnxAttrInfo& info : op.attributes) {
    if (!info.required || node.attrs.contains(info.name)) continue;
    errors.add(about(node, Code::missing_attribute, "attribute '" + info.name + "' is required")
                   .try_("add \"" + info.name + "\": " + std::string(name_of(info.kind))));
  }
}

// Operators of ONNX that ge does not have, and why.
struct OutOfScope {
  const char *names, *why, *fix;  // names: each between spaces
};
constexpr OutOfScope kOutOfScope[] = {
    {" NonZero Compress Unique NonMaxSuppression ",
     "the shape of its result depends on the values of its inputs; ge decides all shapes before a run",
     "export the model without it, or run what follows it as a model of its own"},
    {" If Loop Scan SequenceMap ",
     "it runs a graph as often as values say; there is no control flow in a plan",
     "export the model with the branch or the number of turns fixed"},
    {" LSTM GRU RNN LinearAttention ", "recurrences over a sequence are not supported", ""},
    {" SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength "
     "SplitToSequence "
     "ConcatFromSequence Optional OptionalGetElement OptionalHasElement ",
     "values are tensors; there are no sequences and optional values", "use Split and Concat on tensors"},
    {" StringConcat StringNormalizer StringSplit RegexFullMatch TfIdfVectorizer ImageDecoder ",
     "strings and files are not supported", "do this before the model runs"},
};

const OutOfScope* out_of_scope(const OnnxName& name) {
  if (!name.domain.empty()) return nullptr;
  for (const OutOfScope& group : kOutOfScope)
    if (std::string_view(group.names).find(" " + name.type + " ") != std::string_view::npos) return &group;
  return nullptr;
}

}  // namespace

Result<const Operator*> operator_of(const Node& node) {
  const OnnxName& name = *node.onnx;
  const Operator* op = find_operator(name.domain, name.type, name.version);
  if (op) return op;
  const std::string shown = (name.domain.empty() ? "" : name.domain + ".") + name.type;
  if (const int first = first_version(name.domain, name.type); first > 0) {
    return about(node, Code::unsupported_op_version,
                 "the operator is not in opset " + std::to_string(name.version), "/op")
        .because("it is there from opset " + std::to_string(first) + " on")
        .try_("set \"opset\" to " + std::to_string(first) + " or later");
  }
  if (const OutOfScope* group = out_of_scope(name)) {
    return about(node, Code::unsupported_feature, "the operator is not supported", "/op")
        .because(group->why)
        .try_(group->fix);
  }
  if (!name.domain.empty() && first_version("", name.type) > 0) {
    return about(node, Code::unknown_op, "unknown operator", "/op")
        .because("found '" + visible_line(shown) + "'; '" + name.type + "' is an operator of ai.onnx")
        .try_("remove \"domain\"");
  }
  const std::string near = nearest(name.type, operator_names(name.domain));
  return about(node, Code::unknown_op, near.empty() ? "the operator is not supported" : "unknown operator",
               "/op")
      .because("found '" + shown + "'")
      .try_(near.empty() ? "ge-compile --list-ops shows the operators that are supported"
                         : "did you mean '" + near + "'?");
}

void check_signature(const Node& node, const Operator& op, ErrorList& errors) {
  check_counts(node, op, errors);
  check_attributes(node, op, errors);
}

void check_types(const Graph& graph, const Node& node, const Operator& op, ErrorList& errors) {
  std::map<std::string, size_t> first;  // type letter -> the input that fixed it
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (node.operands[i] == kNone) continue;
    const TypeInfo& rule = op.type_of_input(i);
    const ValueInfo& value = graph.value(node.operands[i]);
    const std::string below = "/inputs/" + std::to_string(i);
    const std::string found = "'" + value.name + "' is " + std::string(name_of(value.type.dtype));
    if (!rule.allowed.contains(value.type.dtype)) {
      errors.add(about(node, Code::operand_dtype,
                       "input '" + op.input_name(i) + "' has a dtype that is not supported", below)
                     .because(found + "; allowed: " + to_string(rule.allowed))
                     .try_("insert a Cast before it"));
      continue;
    }
    const auto [at, is_first] = first.try_emplace(rule.name, i);
    const ValueInfo& other = graph.value(node.operands[at->second]);
    if (is_first || other.type.dtype == value.type.dtype) continue;
    errors.add(
        about(node, Code::dtype_mismatch,
              "inputs '" + op.input_name(at->second) + "' and '" + op.input_name(i) + "' must have one dtype",
              below)
            .because("'" + visible_line(other.name) + "' is " + std::string(name_of(other.type.dtype)) +
                     ", " + found)
            .try_("insert a Cast to " + std::string(name_of(other.type.dtype)) + " on '" + value.name + "'"));
  }
}

}  // namespace ge
