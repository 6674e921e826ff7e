// Reading JSON objects with every fault collected. Entry: Fields. Invariant: a getter that gives nullopt has
// told why, or the key is absent and optional.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/source/keys.h"
#include "document/tree.h"

namespace ge {

// A Diagnostic at a value's (or its key's) line, column and pointer.
Diagnostic fault_at(const Value& value, Code code, const std::string& message);
Diagnostic fault_at_key(const Value& value, Code code, const std::string& message);

class Fields {
 public:
  // Tells unknown keys (nearest offered) and missing required ones. `what` names the object in messages: "a
  // node".
  Fields(const Value& value, std::span<const KeyInfo> keys, const std::string& what, ErrorList& errors);
  bool is_object() const { return value_.is_object(); }
  const Value& value() const { return value_; }

  std::optional<Value> find(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;  // a string
  std::optional<int64_t> integer(std::string_view key) const;   // within int64
  std::optional<Value> array(std::string_view key) const;
  std::optional<Value> object(std::string_view key) const;
  // A string that may be a name: any UTF-8 without NUL, not empty unless `may_be_empty`.
  std::optional<std::string> name(std::string_view key, bool may_be_empty = false) const;

 private:
  std::optional<Value> expect(std::string_view key, bool fits(const Value&), const std::string& what) const;
  Value value_;
  ErrorList& errors_;
};

// A name from a value of an array; "" allowed where `may_be_empty`.
std::optional<std::string> read_name(const Value& value, bool may_be_empty, ErrorList& errors);
void tell_wrong_type(const Value& value, const std::string& allowed, ErrorList& errors);

}  // namespace ge
