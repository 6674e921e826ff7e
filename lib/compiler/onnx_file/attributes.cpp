// Attributes of nodes; within functions they may be those of the call.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/onnx_file/body.h"
#include "compiler/source/unfolding.h"

namespace ge::onnx_wire {
namespace {

std::string type_name(int type) {
  static constexpr std::string_view kNames[] = {"nothing",
                                                "a float",
                                                "an integer",
                                                "a string",
                                                "a tensor",
                                                "a graph",
                                                "a list of floats",
                                                "a list of integers",
                                                "a list of strings",
                                                "a list of tensors",
                                                "a list of graphs",
                                                "a sparse tensor",
                                                "a list of sparse tensors",
                                                "a type",
                                                "a list of types"};
  return type >= 0 && type < static_cast<int>(std::size(kNames)) ? std::string(kNames[type])
                                                                 : "attribute type " + std::to_string(type);
}

// The type of what stands first among `held`, in the order of AttributeType; kUnset where nothing does.
int least_of(uint32_t held) {
  return held == 0 ? kUnset : std::countr_zero(held);
}

// Attributes are numbers: a NaN is one, as in graph.json, whatever bits it had.
double one_nan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
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
  for (std::string_view name = at.ref_attr_name(); !name.empty(); name = at.ref_attr_name()) {
    const Scope* call = where->attributes;
    if (!call) return {std::nullopt, nullptr};
    const AttributeTable &own = call->call->attributes, &defaults = call->function->defaults;
    auto found = own.find(name);
    if (found == own.end()) {
      found = defaults.find(name);
      if (found == defaults.end()) return {std::nullopt, nullptr};
    }
    at = found->second;
    where = call->caller;
  }
  return {at, where};
}

// What the attribute's value takes, and the walks over its parts.
bool BodyBuilder::pay_for(const Attribute& a, std::string_view name) {
  uint64_t bytes = unfolded::kAttribute + 4 * name.size() + unfolded::kField * a.field_count();
  bytes += 4 * a.s().size();
  bytes += sizeof(double) * static_cast<uint64_t>(a.floats().size());
  bytes += sizeof(int64_t) * static_cast<uint64_t>(a.ints().size());
  for (const std::string_view s : a.strings()) bytes += sizeof(std::string) + 4 * s.size();
  return state_.pay(bytes);
}

void BodyBuilder::read_attributes(const Node& node, NodeId id, const Scope& scope) {
  for (const Attribute& attribute : node.attribute()) {
    if (state_.gives_up()) return;
    const auto [value, where] = referred(attribute, scope);
    if (!value) continue;
    if (scope.depth > 0 && !pay_for(*value, attribute.name())) return;
    const std::string name = printable(attribute.name());
    auto read = attribute_value(*value, id, *where);
    if (!read) continue;
    if (!graph_.node(id).attrs.emplace(name, std::move(*read)).second)
      state_.errors.add(about_node(id, Code::duplicate_name, "attribute '" + name + "' stands twice", ""));
  }
}

// What `type` says, and what is there: a field that is absent holds 0, "" or an empty list of the type that
// is said, as writers leave such out. kUnset, and told, where the two do not go together, and where more than
// one value is there.
int BodyBuilder::type_of(const Attribute& a, NodeId id) {
  const int said = a.type();
  const uint32_t held = a.held_types();
  if (std::popcount(held) > 1) {
    const std::string name = printable(a.name());
    const int first = least_of(held);
    state_.errors.add(about_node(id, Code::wrong_attribute_type,
                                 "attribute '" + name + "' has more than one value", "/attributes/" + name)
                          .because("it holds " + type_name(first) + " and " +
                                   type_name(least_of(held & ~(uint32_t{1} << first))))
                          .try_("export the model again"));
    return kUnset;
  }
  if (said == kUnset) return held == 0 ? int{kInts} : least_of(held);
  const bool is_known = said > kUnset && said <= kTypes;
  const bool may_be_absent = said != kTensor && said != kGraph;
  if (!is_known || ((held >> said) & 1) != 0 || (held == 0 && may_be_absent)) return said;
  const std::string name = printable(a.name());
  state_.errors.add(
      about_node(id, Code::wrong_attribute_type, "attribute '" + name + "' is not what it says",
                 "/attributes/" + name)
          .because("its type says " + type_name(said) + ", it holds " + type_name(least_of(held)))
          .try_("export the model again"));
  return kUnset;
}

std::optional<Attr> BodyBuilder::attribute_value(const Attribute& a, NodeId id, const Scope& scope) {
  const int type = type_of(a, id);
  switch (type) {
    case kUnset:
      return std::nullopt;
    case kFloat:
      return one_nan(a.f());
    case kInt:
      return a.i();
    case kString:
      return printable(a.s());
    case kTensor:
      return tensor_attribute(a, id);
    case kGraph:
      return graph_attribute(a, id, scope);
    case kFloats: {
      auto list = a.floats().list<std::vector<double>>();
      std::transform(list.begin(), list.end(), list.begin(), one_nan);
      return list;
    }
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
                            .because("found " + type_name(type)));
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
  const std::string name = printable(a.name());
  if (root_.depth >= kMaxCallDepth || scope.depth >= kMaxCallDepth) {
    state_.errors.add(about_node(id, Code::document_limit, "attribute '" + name + "': graphs nest too deep",
                                 "/attributes/" + name)
                          .because("allowed " + std::to_string(kMaxCallDepth) +
                                   " levels of subgraphs and functions together"));
    return std::nullopt;
  }
  const std::string path = graph_.node(id).sources.front().path + "/attributes/" + name + "/graph";
  const onnx_wire::Graph graph = a.g();
  if (!state_.pay(unfolded::kBody + path.size() + scope.prefix.size() +
                  unfolded::kField * graph.field_count()))
    return std::nullopt;
  BodyBuilder reader(state_, this, &scope, path, std::max(root_.depth, scope.depth) + 1);
  auto body = std::make_shared<ge::Graph>(reader.read(graph, *scope.opsets));
  subgraphs_.push_back({body, reader.captures()});
  return body;
}

}  // namespace ge::onnx_wire
