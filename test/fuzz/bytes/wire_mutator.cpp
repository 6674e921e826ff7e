#include "wire_mutator.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "compiler/onnx_file/wire_check.h"
#include "compiler/onnx_ops/registry.h"

namespace ge::test {
namespace {

using onnx_wire::FieldInfo;
using onnx_wire::FieldKind;
using onnx_wire::MessageInfo;

struct Field {
  uint64_t number = 0;
  uint32_t wire = 0;
  uint64_t value = 0;                    // varints
  std::string bytes;                     // everything else that is no message
  const MessageInfo* message = nullptr;  // of `fields`
  std::vector<Field> fields;
  const FieldInfo* info = nullptr;
};
using Fields = std::vector<Field>;

constexpr uint32_t kVarint = 0, kFixed64 = 1, kBlock = 2, kFixed32 = 5;
constexpr size_t kLargest = 1 << 16, kSeenFiles = 64;

class Parser {
 public:
  explicit Parser(std::string_view bytes) : bytes_(bytes) {}
  bool parse(const MessageInfo& message, size_t end, int depth, Fields& into) {
    while (at_ < end) {
      Field& field = into.emplace_back();
      if (depth > onnx_wire::kMaxWireDepth || !parse_field(message, end, depth, field)) return false;
    }
    return true;
  }

 private:
  bool parse_field(const MessageInfo& message, size_t end, int depth, Field& f) {
    uint64_t tag = 0;
    if (!varint(end, tag)) return false;
    f.number = tag >> 3;
    f.wire = static_cast<uint32_t>(tag & 7);
    for (const FieldInfo& info : message.fields)
      if (info.number == f.number) f.info = &info;
    if (f.wire == kVarint) return varint(end, f.value);
    uint64_t size = f.wire == kFixed64 ? 8 : 4;
    if (f.wire == kBlock && !varint(end, size)) return false;
    if ((f.wire != kBlock && f.wire != kFixed64 && f.wire != kFixed32) || size > end - at_) return false;
    if (f.wire == kBlock && f.info && f.info->kind == FieldKind::kMessage) {
      f.message = f.info->message;
      return parse(*f.message, at_ + static_cast<size_t>(size), depth + 1, f.fields);
    }
    f.bytes = bytes_.substr(at_, static_cast<size_t>(size));
    at_ += static_cast<size_t>(size);
    return true;
  }
  bool varint(size_t end, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at_ < end; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }
  std::string_view bytes_;
  size_t at_ = 0;
};

void write_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

std::string written(const Fields& fields) {
  std::string out;
  for (const Field& f : fields) {
    write_varint(f.number << 3 | f.wire, out);
    if (f.wire == kVarint) {
      write_varint(f.value, out);
      continue;
    }
    const std::string inside = f.message ? written(f.fields) : f.bytes;
    if (f.wire == kBlock) write_varint(inside.size(), out);
    out += inside;
  }
  return out;
}

// Every list of fields below, with its own first.
void collect(Fields& fields, const MessageInfo& message,
             std::vector<std::pair<Fields*, const MessageInfo*>>& lists) {
  lists.emplace_back(&fields, &message);
  for (Field& f : fields)
    if (f.message) collect(f.fields, *f.message, lists);
}

class Change {
 public:
  Change(Fields& root, std::mt19937_64& random) : random_(random) {
    collect(root, onnx_wire::model_message(), lists_);
    for (const auto& [fields, message] : lists_)
      for (Field& f : *fields)
        if (!f.message && f.info) leaves_.push_back(&f);
  }

  void make() {
    auto& [fields, message] = lists_[below(lists_.size())];
    if (fields->empty() || below(3) == 0) {
      if (!leaves_.empty()) change_leaf(*leaves_[below(leaves_.size())]);
      return;
    }
    const size_t at = below(fields->size());
    const auto place = fields->begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(5)) {
      case 0:
        fields->erase(place);
        return;
      case 1: {
        Field again = *place;
        fields->insert(place, std::move(again));
        return;
      }
      case 2:
        std::swap(*place, (*fields)[below(fields->size())]);
        return;
      default:
        return borrow(*fields, *message, at);
    }
  }

  static std::vector<Fields>& seen() {
    static std::vector<Fields> files;
    return files;
  }

 private:
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(random_() % n); }

  // A field of the same message in a file seen before, in place of one or beside it.
  void borrow(Fields& fields, const MessageInfo& message, size_t at) {
    if (seen().empty()) return;
    std::vector<std::pair<Fields*, const MessageInfo*>> lists;
    collect(seen()[below(seen().size())], onnx_wire::model_message(), lists);
    std::erase_if(lists, [&](const auto& list) { return list.second != &message || list.first->empty(); });
    if (lists.empty()) return;
    const Fields& other = *lists[below(lists.size())].first;
    Field taken = other[below(other.size())];
    if (below(2) != 0)
      fields[at] = std::move(taken);
    else
      fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(at), std::move(taken));
  }

  void change_leaf(Field& f) {
    static constexpr std::array<uint64_t, 14> kNumbers = {
        0,          1,     2,        3, 7, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff,
        1ull << 63, ~0ull, ~0ull - 1};
    if (f.wire == kVarint) {
      f.value = below(2) != 0 ? kNumbers[below(kNumbers.size())] : f.value + below(5) - 2;
    } else if (f.wire != kBlock) {
      f.bytes[below(f.bytes.size())] = static_cast<char>(random_());
    } else if (f.info->name == "op_type" && below(2) != 0) {
      const auto rows = onnx_operators();
      f.bytes = std::string(rows[below(rows.size())].row->name);
    } else {
      change_text(f);
    }
  }

  void change_text(Field& f) {
    const size_t at = below(f.bytes.size() + 1);
    switch (below(4)) {
      case 0:
      case 1: {  // what another field says: operands become others
        const Field& other = *leaves_[below(leaves_.size())];
        if (other.wire == kBlock) f.bytes = std::string(other.bytes);
        return;
      }
      case 2:
        if (at < f.bytes.size()) f.bytes[at] = static_cast<char>(random_());
        return;
      default:
        below(2) != 0 ? void(f.bytes.resize(at)) : void(f.bytes.insert(at, 1, static_cast<char>(random_())));
    }
  }

  std::mt19937_64& random_;
  std::vector<std::pair<Fields*, const MessageInfo*>> lists_;
  std::vector<Field*> leaves_;
};

}  // namespace

std::vector<uint8_t> mutate_wire(const uint8_t* data, size_t size, std::mt19937_64& random) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Fields fields;
  if (size > kLargest || !Parser(bytes).parse(onnx_wire::model_message(), size, 0, fields)) return {};
  auto& seen = Change::seen();
  if (seen.size() < kSeenFiles)
    seen.push_back(fields);
  else if (random() % 16 == 0)
    seen[random() % kSeenFiles] = fields;
  for (size_t n = 1 + random() % 4; n-- > 0;) Change(fields, random).make();
  const std::string out = written(fields);
  if (out.size() > kLargest) return {};
  return {out.begin(), out.end()};
}

}  // namespace ge::test
