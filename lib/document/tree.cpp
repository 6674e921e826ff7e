// Walking a Document: values, positions, pointers.
#include "document/tree.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "base/diagnostic.h"
#include "base/text.h"

namespace ge {

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNull:
      return "null";
    case ValueKind::kBool:
      return "a boolean";
    case ValueKind::kInt64:
    case ValueKind::kUint64:
      return "an integer";
    case ValueKind::kDouble:
      return "a number";
    case ValueKind::kString:
      return "a string";
    case ValueKind::kBinary:
      return "bytes";
    case ValueKind::kArray:
      return "an array";
    case ValueKind::kObject:
      return "an object";
  }
  return "a value";
}

ValueKind Value::kind() const {
  const uint32_t kind = document_->nodes_[node_].kind;
  return kind == Document::kFloat32Tag ? ValueKind::kDouble : static_cast<ValueKind>(kind);
}

std::optional<bool> Value::as_bool() const {
  if (!is_bool()) return std::nullopt;
  return document_->nodes_[node_].payload != 0;
}

std::optional<int64_t> Value::as_int64() const {
  if (kind() != ValueKind::kInt64) return std::nullopt;  // kUint64 is used past int64's range only
  return std::bit_cast<int64_t>(document_->nodes_[node_].payload);
}

std::optional<uint64_t> Value::as_uint64() const {
  const uint64_t payload = document_->nodes_[node_].payload;
  if (kind() == ValueKind::kUint64) return payload;
  if (kind() == ValueKind::kInt64 && std::bit_cast<int64_t>(payload) >= 0) return payload;
  return std::nullopt;
}

std::optional<double> Value::as_double() const {
  const uint64_t payload = document_->nodes_[node_].payload;
  switch (kind()) {
    case ValueKind::kInt64:
      return static_cast<double>(std::bit_cast<int64_t>(payload));
    case ValueKind::kUint64:
      return static_cast<double>(payload);
    case ValueKind::kDouble:
      return std::bit_cast<double>(payload);
    default:
      return std::nullopt;
  }
}

std::optional<std::string_view> Value::as_string() const {
  if (!is_string()) return std::nullopt;
  return document_->pool_text(document_->nodes_[node_].payload);
}

std::optional<ByteSpan> Value::as_binary() const {
  if (!is_binary()) return std::nullopt;
  return as_bytes(document_->pool_text(document_->nodes_[node_].payload));
}

int64_t Value::size() const {
  return is_array() || is_object() ? static_cast<int64_t>(document_->nodes_[node_].payload) : 0;
}

std::string_view Value::key() const {
  const auto [offset, length] = document_->keys_[document_->nodes_[node_].key];
  return std::string_view(document_->pool_).substr(offset, length);
}

std::optional<Value> Value::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  for (Value member : *this) {
    if (member.key() == key) return member;
  }
  return std::nullopt;
}

Value Value::at(int64_t index) const {
  const Document::Node& node = document_->nodes_[node_];
  const bool scalars_only = node.end - node_ - 1 == node.payload;
  if (scalars_only) return Value(document_, node_ + 1 + static_cast<uint32_t>(index));
  uint32_t child = node_ + 1;
  for (int64_t i = 0; i < index; ++i) child = document_->nodes_[child].end;
  return Value(document_, child);
}

Value::Iterator& Value::Iterator::operator++() {
  node_ = document_->nodes_[node_].end;
  return *this;
}
Value::Iterator Value::begin() const {
  return Iterator(document_, is_array() || is_object() ? node_ + 1 : node_);
}
Value::Iterator Value::end() const {
  return Iterator(document_, is_array() || is_object() ? document_->nodes_[node_].end : node_);
}

Position Value::position() const {
  return document_->position(node_);
}
Position Value::key_position() const {
  return document_->key_position(node_);
}
std::string Value::pointer() const {
  return document_->pointer(node_);
}
std::string Value::place() const {
  return document_->place_of_byte(document_->nodes_[node_].offset);
}
std::string Value::key_place() const {
  return document_->place_of_byte(document_->nodes_[node_].key_offset);
}

namespace {

// At most 40 bytes of `text`, cut between code points, quoted.
std::string quoted_start(std::string_view text) {
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return quoted_line(text);
  size_t cut = kShown;
  while (cut > 0 && (static_cast<uint8_t>(text[cut]) & 0xc0) == 0x80) --cut;
  return "\"" + visible_line(text.substr(0, cut)) + "...\"";
}

}  // namespace

std::string Value::describe() const {
  const uint64_t payload = document_->nodes_[node_].payload;
  switch (kind()) {
    case ValueKind::kBool:
      return payload ? "true" : "false";
    case ValueKind::kInt64:
      return std::to_string(std::bit_cast<int64_t>(payload));
    case ValueKind::kUint64:
      return std::to_string(payload);
    case ValueKind::kDouble:
      return double_text(std::bit_cast<double>(payload));
    case ValueKind::kString:
      return quoted_start(document_->pool_text(payload));
    case ValueKind::kBinary:
      return std::to_string(payload & 0xffffffffu) + " bytes";
    default:
      return std::string(name_of(kind()));
  }
}

Position Document::position(uint32_t node) const {
  return position_of_byte(nodes_[node].offset);
}
Position Document::key_position(uint32_t node) const {
  return position_of_byte(nodes_[node].key_offset);
}

Position Document::position_of_byte(int64_t offset) const {
  if (line_starts_.empty()) return {1, offset + 1};
  const size_t line = line_starts_.count_below(static_cast<uint64_t>(offset) + 1) - 1;
  const int64_t start = line_starts_[line];
  const size_t uncounted = continuations_.count_below(static_cast<uint64_t>(offset)) -
                           continuations_.count_below(static_cast<uint64_t>(start));
  return {static_cast<int64_t>(line) + 1, offset - start - static_cast<int64_t>(uncounted) + 1};
}

std::string Document::place_of_byte(int64_t offset) const {
  if (has_positions()) {
    const Position p = position_of_byte(offset);
    return name_ + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
  }
  if (built_) return name_;
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
  return name_ + text;
}

// Walks down from the root: at each level the child whose subtree holds the node. Linear in the siblings on
// the way.
std::string Document::pointer(uint32_t node) const {
  std::string text;
  for (uint32_t at = 0; at != node;) {
    const bool is_object = nodes_[at].kind == static_cast<uint32_t>(ValueKind::kObject);
    uint32_t child = at + 1;
    int64_t index = 0;
    for (; nodes_[child].end <= node; child = nodes_[child].end) ++index;
    text += '/';
    if (is_object) {
      const auto [offset, length] = keys_[nodes_[child].key];
      for (char c : std::string_view(pool_).substr(offset, length)) {
        if (c == '~')
          text += "~0";
        else if (c == '/')
          text += "~1";
        else
          text += c;
      }
    } else {
      text += std::to_string(index);
    }
    at = child;
  }
  return text;
}

}  // namespace ge
