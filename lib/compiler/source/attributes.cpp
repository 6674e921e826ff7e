// Attributes of nodes: numbers, strings, lists of them, tensors and subgraphs.
#include <cmath>

#include "compiler/source/body_reader.h"
#include "compiler/source/unfolding.h"

namespace ge {

void BodyReader::read_attributes(const Value& object, NodeId id) {
  if (!object.is_object()) {
    tell_wrong_type(object, "an object", state_.errors);
    return;
  }
  for (const Value member : object) {
    if (state_.gives_up()) return;
    if (auto value = attribute(member)) graph_.node(id).attrs[std::string(member.key())] = std::move(*value);
  }
}

// ONNX's are float32: what is none, and not written as "Infinity", is refused rather than rounded to
// infinity.
bool BodyReader::is_float32(const Value& json) {
  const double value = *json.as_double();
  if (std::isfinite(static_cast<float>(value))) return true;
  state_.errors.add(fault_at(json, Code::bad_attribute, "an attribute's number is too large for float32")
                        .because("found " + json.describe())
                        .try_("write \"Infinity\" where that is meant"));
  return false;
}

std::optional<Attr> BodyReader::attribute(const Value& json) {
  if (const auto integer = json.as_int64()) return *integer;
  if (json.kind() == ValueKind::kDouble)
    return is_float32(json) ? std::optional<Attr>(*json.as_double()) : std::nullopt;
  if (const auto text = json.as_string()) {
    if (const auto special = special_number(*text)) return *special;
    return std::string(*text);
  }
  if (json.is_array()) return list_attribute(json);
  if (json.is_object()) return object_attribute(json);
  const std::string fix = json.is_bool() ? "write 1 or 0"
                          : json.is_number()
                              ? "integers end at 9223372036854775807; write " + json.describe() +
                                    ".0 where a floating-point number is meant"
                              : "";
  state_.errors.add(
      fault_at(json, Code::wrong_json_type,
               "attribute \"" + std::string(json.key()) + "\" has the wrong type")
          .because("found " + json.describe() +
                   ", allowed a number, a string, a list of them, {\"tensor\": ...} or {\"graph\": ...}")
          .try_(fix));
  return std::nullopt;
}

// All integers; or numbers, with "NaN" and the infinities as strings; or all strings. Which is known, and
// that all are sound, before any is kept.
std::optional<Attr> BodyReader::list_attribute(const Value& json) {
  size_t count = 0, integers = 0, numbers = 0, strings = 0;
  for (const Value v : json) {
    ++count;
    if (v.kind() == ValueKind::kDouble && !is_float32(v)) return std::nullopt;
    const bool is_special = v.is_string() && special_number(*v.as_string());
    const bool is_number = is_special || v.is_number();
    integers += v.as_int64() ? 1 : 0;
    numbers += is_number ? 1 : 0;
    strings += v.is_string() ? 1 : 0;
    if (v.is_string() || is_number) continue;
    state_.errors.add(fault_at(v, Code::wrong_json_type, "an attribute's list holds numbers or strings")
                          .because("found " + v.describe()));
    return std::nullopt;
  }
  const auto list = [&]<class T>(std::vector<T> values, auto&& element) -> std::optional<Attr> {
    values.reserve(count);
    for (const Value v : json) values.push_back(element(v));
    return values;
  };
  if (integers == count) return list(std::vector<int64_t>(), [](Value v) { return *v.as_int64(); });
  if (numbers == count)
    return list(std::vector<double>(),
                [](Value v) { return v.is_string() ? *special_number(*v.as_string()) : *v.as_double(); });
  if (strings == count) return list(std::vector<std::string>(), [](Value v) { return *v.as_string(); });
  state_.errors.add(
      fault_at(json, Code::wrong_json_type, "an attribute's list holds numbers or strings, not both"));
  return std::nullopt;
}

std::optional<Attr> BodyReader::object_attribute(const Value& json) {
  const Fields fields(json, kAttributeKeys, "an attribute", state_.errors);
  const auto graph = fields.find("graph"), tensor = fields.find("tensor");
  if (graph.has_value() == tensor.has_value()) {
    state_.errors.add(fault_at(json, Code::missing_key,
                               "an attribute that is an object has exactly one of \"tensor\" and \"graph\""));
    return std::nullopt;
  }
  if (graph) {
    auto body = subgraph(*graph);
    return body ? std::optional<Attr>(std::move(body)) : std::nullopt;
  }
  const Fields description(*tensor, kTensorKeys, "a tensor", state_.errors);
  auto data = state_.tensors.read(description);
  return data ? std::optional<Attr>(TensorAttr{std::move(*data)}) : std::nullopt;
}

std::shared_ptr<Graph> BodyReader::subgraph(const Value& json) {
  const Fields fields(json, kSubgraphKeys, "a subgraph", state_.errors);
  if (!fields.is_object()) return nullptr;
  uint64_t bytes = unfolded::kBody;
  for (const auto& [name, range] : graph_.symbols) bytes += unfolded::kOperand + name.size();
  if (!state_.pay(bytes, json)) return nullptr;
  BodyReader reader(state_, this, json.pointer());
  auto body = std::make_shared<Graph>(reader.read(fields, graph_.symbols));
  subgraphs_.push_back({body, reader.captures()});
  return body;
}

}  // namespace ge
