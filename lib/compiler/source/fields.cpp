// Objects of graph.json, key by key.
#include "compiler/source/fields.h"

#include <algorithm>
#include <vector>

namespace ge {

Diagnostic fault_at(const Value& value, Code code, const std::string& message) {
  return fail(code).say(message).at(value.place()).in(value.pointer());
}

Diagnostic fault_at_key(const Value& value, Code code, const std::string& message) {
  return fail(code).say(message).at(value.key_place()).in(value.pointer());
}

void tell_wrong_type(const Value& value, const std::string& allowed, ErrorList& errors) {
  const std::string key = value.shown_key();
  errors.add(fault_at(value, Code::wrong_json_type,
                      key.empty() ? "value has the wrong type" : "\"" + key + "\" has the wrong type")
                 .because("found " + value.describe() + ", allowed " + allowed));
}

std::optional<std::string> read_name(const Value& value, bool may_be_empty, ErrorList& errors) {
  auto text = value.as_string();
  if (!text) {
    tell_wrong_type(value, "a string", errors);
    return std::nullopt;
  }
  if (text->find('\0') != std::string::npos || (text->empty() && !may_be_empty)) {
    errors.add(fault_at(value, Code::wrong_json_type, "name is not valid")
                   .because(text->empty() ? "found \"\"" : "found a name that holds NUL"));
    return std::nullopt;
  }
  return text;
}

namespace {
void tell_unknown_key(const Value& member, std::span<const KeyInfo> keys, const std::string& what,
                      ErrorList& errors) {
  std::vector<std::string> names;
  std::string list;
  for (const KeyInfo& key : keys) {
    names.emplace_back(key.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string found = member.shown_key();
  const std::string near = nearest(found, names);
  errors.add(fault_at_key(member, Code::unknown_key, "unknown key \"" + found + "\" in " + what)
                 .because("keys are " + list)
                 .try_(near.empty() ? "remove it" : "did you mean \"" + near + "\"?"));
}
}  // namespace

Fields::Fields(const Value& value, std::span<const KeyInfo> keys, const std::string& what, ErrorList& errors)
    : value_(value), errors_(errors) {
  if (!value.is_object()) {
    errors.add(fault_at(value, Code::wrong_json_type, what + " must be an object")
                   .because("found " + value.describe()));
    return;
  }
  for (const Value member : value) {
    if (errors.full()) return;
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](const KeyInfo& k) { return member.key_is(k.name); });
    if (!known) tell_unknown_key(member, keys, what, errors);
  }
  for (const KeyInfo& key : keys) {
    if (key.required && !value.find(key.name)) {
      errors.add(fault_at(value, Code::missing_key, what + " has no \"" + std::string(key.name) + "\""));
    }
  }
}

std::optional<Value> Fields::find(std::string_view key) const {
  return value_.is_object() ? value_.find(key) : std::nullopt;
}

std::optional<Value> Fields::expect(std::string_view key, bool fits(const Value&),
                                    const std::string& what) const {
  const auto found = find(key);
  if (!found || fits(*found)) return found;
  tell_wrong_type(*found, what, errors_);
  return std::nullopt;
}

std::optional<std::string> Fields::text(std::string_view key) const {
  const auto found = expect(
      key, [](const Value& v) { return v.is_string(); }, "a string");
  return found ? found->as_string() : std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view key) const {
  const auto found = expect(
      key, [](const Value& v) { return v.as_int64().has_value(); },
      "an integer of 64 bits, with no fraction and no exponent");
  return found ? found->as_int64() : std::nullopt;
}

std::optional<Value> Fields::array(std::string_view key) const {
  return expect(
      key, [](const Value& v) { return v.is_array(); }, "an array");
}

std::optional<Value> Fields::object(std::string_view key) const {
  return expect(
      key, [](const Value& v) { return v.is_object(); }, "an object");
}

std::optional<std::string> Fields::name(std::string_view key, bool may_be_empty) const {
  const auto found = find(key);
  return found ? read_name(*found, may_be_empty, errors_) : std::nullopt;
}

}  // namespace ge
