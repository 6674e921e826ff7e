// Walking a Document: values, positions, pointers. Texts were checked when they were scanned.
#include "document/tree.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/diagnostic.h"
#include "base/text.h"
#include "document/cbor_bytes.h"
#include "document/json_text.h"

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

namespace {

double half(uint64_t bits) {
  const auto exponent = static_cast<int>((bits >> 10) & 31);
  const auto mantissa = static_cast<double>(bits & 1023);
  double value = exponent == 0   ? std::ldexp(mantissa, -24)
                 : exponent < 31 ? std::ldexp(mantissa + 1024, exponent - 25)
                 : mantissa == 0 ? HUGE_VAL
                                 : std::nan("");
  return (bits >> 15) != 0 ? -value : value;
}

}  // namespace

ValueKind Document::rough_kind_at(uint32_t at) const {
  if (form_ == DocumentForm::kJson) {
    switch (text_[at]) {
      case 'n':
        return ValueKind::kNull;
      case 't':
      case 'f':
        return ValueKind::kBool;
      case '"':
        return ValueKind::kString;
      case '[':
        return ValueKind::kArray;
      case '{':
        return ValueKind::kObject;
      default:
        return ValueKind::kDouble;
    }
  }
  const cbor::Head head = cbor::head_at(text(), at);
  switch (head.major) {
    case cbor::kBytes:
      return ValueKind::kBinary;
    case cbor::kText:
      return ValueKind::kString;
    case cbor::kArray:
      return ValueKind::kArray;
    case cbor::kMap:
      return ValueKind::kObject;
    case cbor::kSimple:
      return head.info == 22 ? ValueKind::kNull : head.info < 22 ? ValueKind::kBool : ValueKind::kDouble;
    default:
      return ValueKind::kDouble;
  }
}

std::optional<Number> Document::number_at(uint32_t at) const {
  if (form_ == DocumentForm::kJson) {
    const char first = text_[at];
    if (first != '-' && !json_text::is_digit(first)) return std::nullopt;
    const std::string_view token = text_.substr(at, json_text::scalar_end(text_, at) - at);
    const char *begin = token.data(), *end = begin + token.size();
    const auto in_double = [](char c) { return c == '.' || c == 'e' || c == 'E'; };
    if (std::any_of(begin, end, in_double))
      return Number{ValueKind::kDouble, std::bit_cast<uint64_t>(json_text::double_of(token).value_or(0))};
    int64_t value = 0;
    if (std::from_chars(begin, end, value).ec == std::errc())
      return Number{ValueKind::kInt64, std::bit_cast<uint64_t>(value)};
    uint64_t large = 0;
    std::from_chars(begin, end, large);
    return Number{ValueKind::kUint64, large};
  }
  const cbor::Head head = cbor::head_at(text(), at);
  if (head.major == cbor::kUnsigned)
    return Number{head.argument >> 63 ? ValueKind::kUint64 : ValueKind::kInt64, head.argument};
  if (head.major == cbor::kNegative) return Number{ValueKind::kInt64, ~head.argument};
  if (head.major != cbor::kSimple || head.info < 25) return std::nullopt;
  const double value = head.info == 25   ? half(head.argument)
                       : head.info == 26 ? double{std::bit_cast<float>(static_cast<uint32_t>(head.argument))}
                                         : std::bit_cast<double>(head.argument);
  return Number{ValueKind::kDouble, std::bit_cast<uint64_t>(value)};
}

std::optional<std::string_view> Document::plain_at(uint32_t at) const {
  if (form_ != DocumentForm::kJson) {
    const cbor::Head head = cbor::head_at(text(), at);
    return text().substr(at + head.size, head.argument);
  }
  const std::string_view inside = text_.substr(at + 1, json_text::string_end(text_, at) - at - 2);
  if (inside.find('\\') != std::string_view::npos) return std::nullopt;
  return inside;
}

void Document::append_string(uint32_t at, std::string& out, size_t most) const {
  const auto plain = plain_at(at);
  if (!plain) return json_text::append_decoded(out, text_, at, most);
  out.reserve(out.size() + std::min(most, plain->size()));
  out += plain->substr(0, most);
}

std::string Document::string_at(uint32_t at, size_t most) const {
  std::string text;
  append_string(at, text, most);
  return text;
}

ValueKind Value::rough_kind() const {
  return document_->rough_kind_at(at_);
}

ValueKind Value::kind() const {
  const ValueKind kind = rough_kind();
  return kind == ValueKind::kDouble ? number()->kind : kind;
}

bool Value::is_integer() const {
  const auto number = this->number();
  return number && number->kind != ValueKind::kDouble;
}

std::optional<Number> Value::number() const {
  return document_->number_at(at_);
}

std::optional<bool> Value::as_bool() const {
  if (!is_bool()) return std::nullopt;
  const char first = document_->text()[at_];
  return document_->form_ == DocumentForm::kJson ? first == 't' : first == '\xf5';
}

std::optional<int64_t> Value::as_int64() const {
  const auto number = this->number();
  if (!number || number->kind != ValueKind::kInt64) return std::nullopt;  // kUint64 is past int64's range
  return std::bit_cast<int64_t>(number->bits);
}

std::optional<uint64_t> Value::as_uint64() const {
  const auto number = this->number();
  if (!number || number->kind == ValueKind::kDouble) return std::nullopt;
  if (number->kind == ValueKind::kInt64 && std::bit_cast<int64_t>(number->bits) < 0) return std::nullopt;
  return number->bits;
}

std::optional<double> Value::as_double() const {
  const auto number = this->number();
  if (!number) return std::nullopt;
  switch (number->kind) {
    case ValueKind::kInt64:
      return static_cast<double>(std::bit_cast<int64_t>(number->bits));
    case ValueKind::kUint64:
      return static_cast<double>(number->bits);
    default:
      return std::bit_cast<double>(number->bits);
  }
}

std::optional<std::string> Value::as_string() const {
  if (!is_string()) return std::nullopt;
  return document_->string_at(at_);
}

std::optional<std::string_view> Value::plain_string() const {
  return is_string() ? document_->plain_at(at_) : std::nullopt;
}

std::optional<ByteSpan> Value::as_binary() const {
  if (!is_binary()) return std::nullopt;
  return as_bytes(*document_->plain_at(at_));
}

bool Value::is_float() const {
  return document_->form_ == DocumentForm::kBuilt && document_->own_[at_] == '\xfa';
}

bool Value::is_empty() const {
  return begin() == end();
}

int64_t Value::size() const {
  const Iterator first = begin();
  if (first.left_ != UINT64_MAX && first != end()) return static_cast<int64_t>(first.left_);
  int64_t count = 0;
  for (Iterator i = first; i != end(); ++i) ++count;
  return count;
}

std::string Value::key() const {
  return key_ == kNowhere ? std::string() : document_->string_at(key_);
}

std::string Document::shown_at(uint32_t at) const {
  const auto plain = plain_at(at);
  return plain ? shortened(*plain) : shortened(string_at(at));
}

std::string Value::shown_key() const {
  return key_ == kNowhere ? std::string() : document_->shown_at(key_);
}

bool Value::key_is(std::string_view text) const {
  if (key_ == kNowhere) return text.empty();
  const auto plain = document_->plain_at(key_);
  return plain ? *plain == text : document_->string_at(key_) == text;
}

std::optional<Value> Value::find(std::string_view key) const {
  if (!is_object()) return std::nullopt;
  for (Value member : *this) {
    if (member.key_is(key)) return member;
  }
  return std::nullopt;
}

Value Value::at(int64_t index) const {
  Iterator child = begin();
  for (; index > 0; --index) ++child;
  return *child;
}

void Value::Iterator::enter(size_t at) {
  const std::string_view text = document_->text();
  const bool json = document_->form_ == DocumentForm::kJson;
  const bool ends = json ? text[at] == ']' || text[at] == '}'
                         : left_ == 0 || (left_ == UINT64_MAX && text[at] == cbor::kBreak);
  key_ = kNowhere;
  if (ends) {
    at_ = kNowhere;
    return;
  }
  if (in_object_) {
    key_ = static_cast<uint32_t>(at);
    if (json) {
      at = json_text::skip_space(text, json_text::string_end(text, at));  // the colon
      at = json_text::skip_space(text, at + 1);
    } else {
      const cbor::Head head = cbor::head_at(text, at);
      at += head.size + head.argument;
    }
  }
  at_ = static_cast<uint32_t>(at);
}

Value::Iterator& Value::Iterator::operator++() {
  size_t next = document_->end_of(at_, skip_);
  if (document_->form_ == DocumentForm::kJson) {
    next = json_text::skip_space(document_->text(), next);
    if (document_->text()[next] == ',') next = json_text::skip_space(document_->text(), next + 1);
  } else if (left_ != UINT64_MAX) {
    --left_;
  }
  enter(next);
  return *this;
}

Value::Iterator Document::first_child(uint32_t container) const {
  if (form_ == DocumentForm::kJson) {
    Value::Iterator child(this, text_[container] == '{', 0);
    child.enter(json_text::skip_space(text_, size_t{container} + 1));
    return child;
  }
  const cbor::Head head = cbor::head_at(text(), container);
  Value::Iterator child(this, head.major == cbor::kMap, 0);
  if (head.info != cbor::kIndefinite) child.left_ = head.argument;
  child.enter(container + head.size);
  return child;
}

Value::Iterator Value::begin() const {
  return is_array() || is_object() ? document_->first_child(at_) : end();
}
Value::Iterator Value::end() const {
  return Iterator(document_, false, kNowhere);
}

// The end of a container that stands in skips_; 0 for others. Walks go forward: from `skip`, which moves to
// the first that does not start before `at`, by steps that double.
uint32_t Document::skipped(uint32_t at, size_t& skip) const {
  const auto before = [&](size_t i) { return i < skips_.size() && skips_[i].start < at; };
  if (before(skip)) {
    size_t step = 1;
    while (before(skip + step)) step *= 2;
    const auto first = skips_.begin() + static_cast<ptrdiff_t>(skip + step / 2),
               last = skips_.begin() + static_cast<ptrdiff_t>(std::min(skip + step, skips_.size()));
    skip = static_cast<size_t>(std::lower_bound(first, last, Skip{at, 0}) - skips_.begin());
  }
  return skip < skips_.size() && skips_[skip].start == at ? skips_[skip].end : 0;
}

uint32_t Document::end_of(uint32_t at, size_t& skip) const {
  const bool json = form_ == DocumentForm::kJson;
  const char first = text()[at];
  if (json && first == '"') return static_cast<uint32_t>(json_text::string_end(text_, at));
  const cbor::Head head = json ? cbor::Head() : cbor::head_at(text(), at);
  const bool container =
      json ? first == '[' || first == '{' : head.major == cbor::kArray || head.major == cbor::kMap;
  if (!container) {
    if (json) return static_cast<uint32_t>(json_text::scalar_end(text_, at));
    const bool text = head.major == cbor::kText || head.major == cbor::kBytes;
    return static_cast<uint32_t>(at + head.size + (text ? head.argument : 0));
  }
  if (const uint32_t known = skipped(at, skip)) return known;
  // A short walk, or the skips would have it.
  size_t end = at + head.size;
  if (!json) {
    if (head.info == cbor::kIndefinite) {
      while (text()[end] != cbor::kBreak) end = end_of(static_cast<uint32_t>(end), skip);
      return static_cast<uint32_t>(end + 1);
    }
    const uint64_t items = head.argument * (head.major == cbor::kMap ? 2 : 1);
    for (uint64_t i = 0; i < items; ++i) end = end_of(static_cast<uint32_t>(end), skip);
    return static_cast<uint32_t>(end);
  }
  for (int depth = 1; depth > 0;) {
    const char c = text_[end];
    if (c == '"') {
      end = json_text::string_end(text_, end);
    } else if (c == '/') {
      end = json_text::skip_space(text_, end);
    } else if (const uint32_t known = c == '[' || c == '{' ? skipped(static_cast<uint32_t>(end), skip) : 0) {
      end = known;
    } else {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      ++end;
    }
  }
  return static_cast<uint32_t>(end);
}

Position Value::position() const {
  return document_->position_of_byte(at_);
}
Position Value::key_position() const {
  return document_->position_of_byte(key_offset());
}
std::string Value::pointer() const {
  return document_->pointer(at_);
}
std::string Value::place() const {
  return document_->place_of_byte(at_);
}
std::string Value::key_place() const {
  return document_->place_of_byte(key_offset());
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
  switch (kind()) {
    case ValueKind::kBool:
      return *as_bool() ? "true" : "false";
    case ValueKind::kInt64:
      return std::to_string(*as_int64());
    case ValueKind::kUint64:
      return std::to_string(*as_uint64());
    case ValueKind::kDouble:
      return double_text(*as_double());
    case ValueKind::kString:
      return quoted_start(document_->string_at(at_, 64));
    case ValueKind::kBinary:
      return std::to_string(as_binary()->size()) + " bytes";
    default:
      return std::string(name_of(kind()));
  }
}

namespace {
// Of UTF-8's bytes the first is one; a byte order mark is none at all.
bool is_column(std::string_view text, size_t at) {
  const auto byte = static_cast<uint8_t>(text[at]);
  return (byte & 0xc0) != 0x80 && !(at == 0 && byte == 0xef);
}
}  // namespace

void Document::mark_lines() {
  marks_.reserve(text_.size() / kMarkBytes + 1);
  Mark mark{1, 1};
  for (size_t at = 0; at < text_.size(); at += kMarkBytes) {
    marks_.push_back(mark);
    const std::string_view block = text_.substr(at, kMarkBytes);
    const size_t last = block.rfind('\n');
    if (last != std::string_view::npos) {
      mark.line += static_cast<uint32_t>(std::count(block.begin(), block.end(), '\n'));
      mark.column = 1;
    }
    for (size_t i = last == std::string_view::npos ? 0 : last + 1; i < block.size(); ++i)
      mark.column += is_column(text_, at + i) ? 1 : 0;
  }
}

Position Document::position_of_byte(int64_t offset) const {
  if (marks_.empty()) return {1, offset + 1};
  const size_t end = static_cast<size_t>(offset), block = std::min(end / kMarkBytes, marks_.size() - 1);
  Position p{marks_[block].line, marks_[block].column};
  for (size_t at = block * kMarkBytes; at < end; ++at) {
    if (text_[at] == '\n') {
      ++p.line;
      p.column = 1;
    } else {
      p.column += is_column(text_, at) ? 1 : 0;
    }
  }
  return p;
}

std::string Document::place_of_byte(int64_t offset) const {
  if (form_ == DocumentForm::kJson) {
    const Position p = position_of_byte(offset);
    return name_ + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
  }
  if (form_ == DocumentForm::kBuilt) return name_;
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
  return name_ + text;
}

void Document::append_key(uint32_t key, std::string& pointer) const {
  pointer.reserve(pointer.size() + 1 +
                  (form_ == DocumentForm::kJson ? json_text::string_end(text_, key) - key : 0));
  pointer += '/';
  const size_t start = pointer.size();
  append_string(key, pointer);
  for (size_t at = start; (at = pointer.find_first_of("~/", at)) != std::string::npos; at += 2)
    pointer.replace(at, 1, pointer[at] == '~' ? "~0" : "~1");
}

uint32_t Document::append_step(uint32_t container, uint32_t target, std::string& pointer) const {
  constexpr int64_t kFar = 64;
  Value::Iterator at = first_child(container);
  int64_t index = 0;
  if (far_.container == container && far_.child <= target) {
    at.at_ = far_.child;
    at.key_ = far_.key;
    at.left_ = far_.left;
    index = far_.index;
  }
  for (; at.at_ != target; ++index) {
    Value::Iterator next = at;
    if ((++next).at_ > target) break;
    at = next;
  }
  if (index >= kFar) far_ = {container, at.at_, at.key_, at.left_, index};
  if (at.in_object_)
    append_key(at.key_, pointer);
  else
    pointer += "/" + std::to_string(index);
  return at.at_;
}

// Linear in the siblings on the way down.
std::string Document::pointer(uint32_t at) const {
  std::string text;
  for (uint32_t here = root_; here != at;) here = append_step(here, at, text);
  return text;
}

}  // namespace ge
