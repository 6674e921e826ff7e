// Attributes of nodes; within functions they may be those of the call.
#include "compiler/onnx_file/body.h"

namespace ge::onnx_wire {
namespace {

// What `type` may say; 0 where a file is older than the field.
enum AttributeType : int { kUnset, kFloat, kInt, kString, kTensor, kGraph, kFloats, kInts, kStrings };

int type_of(const Attribute& a) {
  if (a.type() != kUnset) return a.type();
  if (a.has_f()) return kFloat;
  if (a.has_i()) return kInt;
  if (a.has_s()) return kString;
  if (a.has_t()) return kTensor;
  if (a.has_g()) return kGraph;
  if (a.floats().size() > 0) return kFloats;
  return a.strings().size() > 0 ? kStrings : kInts;
}

std::string type_name(int type) {
  static constexpr std::pair<int, std::string_view> kNames[] = {
      {9, "a list of tensors"},         {10, "a list of graphs"}, {11, "a sparse tensor"},
      {12, "a list of sparse tensors"}, {13, "a type"},           {14, "a list of types"}};
  for (const auto& [n, name] : kNames) {
    if (n == type) return std::string(name);
  }
  return "attribute type " + std::to_string(type);
}

}  // namespace

Diagnostic BodyBuilder::about_node(NodeId id, Code code, const std::string& message,
                                   const std::string& below) const {
  const ge::Node& node = graph_.node(id);
  const Source& source = node.sources.front();
  const std::string name = source.name.empty() ? "" : " '" + source.name + "'";
  return state_.fault(code, node.onnx->type + name + ": " + message, source.path + below);
}

// The attribute itself, or what it refers to: the call's, else the function's default, else nothing. With the
// scope whose names it may use.
std::pair<std::optional<Attribute>, const Scope*> BodyBuilder::referred(const Attribute& attribute,
                                                                        const Scope& scope) {
  Attribute at = attribute;
  const Scope* where = &scope;
  while (!at.ref_attr_name().empty()) {
    const Scope* call = where->attributes;
    if (!call) return {std::nullopt, nullptr};
    std::optional<Attribute> next;
    const std::string_view name = at.ref_attr_name();
    for (const Attribute& a : call->function->attribute_default())
      if (a.name() == name) next = a;
    const Scope* next_where = call->caller;
    for (const Attribute& a : call->call.attribute())
      if (a.name() == name) next = a;
    if (!next) return {std::nullopt, nullptr};
    at = *next;
    where = next_where;
  }
  return {at, where};
}

void BodyBuilder::read_attributes(const Node& node, NodeId id, const Scope& scope) {
  for (const Attribute& attribute : node.attribute()) {
    const auto [value, where] = referred(attribute, scope);
    if (!value) continue;
    const std::string name = printable(attribute.name());
    auto read = attribute_value(*value, id, *where);
    if (!read) continue;
    if (!graph_.node(id).attrs.emplace(name, std::move(*read)).second)
      state_.errors.add(about_node(id, Code::duplicate_name, "attribute '" + name + "' stands twice", ""));
  }
}

std::optional<Attr> BodyBuilder::attribute_value(const Attribute& a, NodeId id, const Scope& scope) {
  switch (type_of(a)) {
    case kFloat:
      return static_cast<double>(a.f());
    case kInt:
      return a.i();
    case kString:
      return printable(a.s());
    case kTensor:
      return tensor_attribute(a, id);
    case kGraph:
      return graph_attribute(a, id, scope);
    case kFloats:
      return a.floats().list<std::vector<double>>();
    case kInts:
      return a.ints().list<std::vector<int64_t>>();
    case kStrings: {
      std::vector<std::string> texts;
      for (const std::string_view s : a.strings()) texts.push_back(printable(s));
      return texts;
    }
    default:
      state_.errors.add(about_node(id, Code::unsupported_feature,
                                   "attribute '" + printable(a.name()) + "' is not supported",
                                   "/attributes/" + printable(a.name()))
                            .because("found " + type_name(type_of(a))));
      return std::nullopt;
  }
}

std::optional<Attr> BodyBuilder::tensor_attribute(const Attribute& a, NodeId id) {
  auto data = state_.tensors.read(a.t());
  if (data.ok()) return TensorAttr{*data};
  const std::string name = printable(a.name());
  Error error = std::move(data).take_error();
  for (Diagnostic& d : error.list()) {
    if (d.message.empty()) d.message = title_of(d.code);
    Diagnostic placed =
        about_node(id, d.code, "attribute '" + name + "': " + d.message, "/attributes/" + name);
    placed.found = d.found;
    placed.fix = d.fix;
    state_.errors.add(std::move(placed));
  }
  return std::nullopt;
}

std::optional<Attr> BodyBuilder::graph_attribute(const Attribute& a, NodeId id, const Scope& scope) {
  const std::string path =
      graph_.node(id).sources.front().path + "/attributes/" + printable(a.name()) + "/graph";
  BodyBuilder reader(state_, this, &scope, path);
  auto body = std::make_shared<ge::Graph>(reader.read(a.g(), *scope.opsets));
  subgraphs_.push_back({body, reader.captures()});
  return body;
}

}  // namespace ge::onnx_wire
