// Documents made by ge itself. Entry: DocumentBuilder. Misuse aborts: it can only be our own bug.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "document/writer.h"

namespace ge {
namespace {

constexpr size_t kMostDepth = 1000;  // as parse_json at most: the writer recurses

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "ge: internal error: DocumentBuilder: %s\n", what);
  std::abort();
}

}  // namespace

DocumentBuilder::DocumentBuilder() {
  document_.built_ = true;
  document_.keys_.emplace_back(0, 0);  // key 0: none
}

DocumentBuilder& DocumentBuilder::add(uint32_t kind, uint64_t payload) {
  Chunked<Document::Node>& nodes = document_.nodes_;
  if (open_.empty()) {
    expect(nodes.empty(), "a second root value");
  } else {
    const bool in_object = nodes[open_.back()].kind == static_cast<uint32_t>(ValueKind::kObject);
    expect(in_object == (pending_key_ != 0),
           "a key belongs before each value of an object, and nowhere else");
    ++nodes[open_.back()].payload;
  }
  expect(nodes.size() < (size_t{1} << 28) - 1, "too many values");
  Document::Node node{};
  node.payload = payload;
  node.end = static_cast<uint32_t>(nodes.size() + 1);
  node.kind = kind & 15;
  node.key = pending_key_ & 0xfffffff;
  pending_key_ = 0;
  nodes.push_back(node);
  return *this;
}

DocumentBuilder& DocumentBuilder::add_text(ValueKind kind, std::string_view bytes) {
  const uint64_t at = document_.pool_.size();
  expect(at + bytes.size() <= UINT32_MAX, "more than 4 GiB of text");
  document_.pool_.append(bytes);
  return add(static_cast<uint32_t>(kind), at << 32 | bytes.size());
}

DocumentBuilder& DocumentBuilder::open(ValueKind kind) {
  add(static_cast<uint32_t>(kind), 0);
  open_.push_back(static_cast<uint32_t>(document_.nodes_.size() - 1));
  expect(open_.size() <= kMostDepth, "nested too deeply");
  return *this;
}

DocumentBuilder& DocumentBuilder::close(ValueKind kind) {
  Chunked<Document::Node>& nodes = document_.nodes_;
  expect(!open_.empty() && nodes[open_.back()].kind == static_cast<uint32_t>(kind),
         "an end that fits no begin");
  expect(pending_key_ == 0, "a key without a value");
  const uint32_t container = open_.back();
  open_.pop_back();
  nodes[container].end = static_cast<uint32_t>(nodes.size());
  if (kind == ValueKind::kObject) {
    scratch_.clear();
    for (uint32_t n = container + 1; n < nodes.size(); n = nodes[n].end) scratch_.push_back(nodes[n].key);
    std::sort(scratch_.begin(), scratch_.end());
    expect(std::adjacent_find(scratch_.begin(), scratch_.end()) == scratch_.end(),
           "a key twice in one object");
  }
  return *this;
}

DocumentBuilder& DocumentBuilder::begin_object() {
  return open(ValueKind::kObject);
}
DocumentBuilder& DocumentBuilder::end_object() {
  return close(ValueKind::kObject);
}
DocumentBuilder& DocumentBuilder::begin_array() {
  return open(ValueKind::kArray);
}
DocumentBuilder& DocumentBuilder::end_array() {
  return close(ValueKind::kArray);
}

DocumentBuilder& DocumentBuilder::key(std::string_view text) {
  expect(pending_key_ == 0, "two keys in a row");
  const auto next = static_cast<uint32_t>(document_.keys_.size());
  const auto [entry, added] = key_ids_.try_emplace(std::string(text), next);
  if (added) {
    expect(document_.pool_.size() + text.size() <= UINT32_MAX, "more than 4 GiB of text");
    document_.keys_.emplace_back(static_cast<uint32_t>(document_.pool_.size()),
                                 static_cast<uint32_t>(text.size()));
    document_.pool_.append(text);
  }
  pending_key_ = entry->second;
  return *this;
}

DocumentBuilder& DocumentBuilder::null() {
  return add(static_cast<uint32_t>(ValueKind::kNull), 0);
}
DocumentBuilder& DocumentBuilder::value(bool v) {
  return add(static_cast<uint32_t>(ValueKind::kBool), v);
}
DocumentBuilder& DocumentBuilder::value(int64_t v) {
  return add(static_cast<uint32_t>(ValueKind::kInt64), std::bit_cast<uint64_t>(v));
}
DocumentBuilder& DocumentBuilder::value(uint64_t v) {
  return add(static_cast<uint32_t>(v >> 63 ? ValueKind::kUint64 : ValueKind::kInt64), v);
}
DocumentBuilder& DocumentBuilder::value(double v) {
  return add(static_cast<uint32_t>(ValueKind::kDouble), std::bit_cast<uint64_t>(v));
}
DocumentBuilder& DocumentBuilder::value(float v) {
  return add(Document::kFloat32Tag, std::bit_cast<uint64_t>(static_cast<double>(v)));
}
DocumentBuilder& DocumentBuilder::value(std::string_view text) {
  return add_text(ValueKind::kString, text);
}
DocumentBuilder& DocumentBuilder::binary(ByteSpan bytes) {
  return add_text(ValueKind::kBinary, as_text(bytes));
}

DocumentBuilder& DocumentBuilder::integers(std::span<const int64_t> values) {
  begin_array();
  for (const int64_t v : values) value(v);
  return end_array();
}

DocumentBuilder& DocumentBuilder::copy(Value subtree) {
  switch (subtree.kind()) {
    case ValueKind::kString:
      return value(*subtree.as_string());
    case ValueKind::kBinary:
      return binary(*subtree.as_binary());
    case ValueKind::kArray:
    case ValueKind::kObject:
      break;
    default: {
      const Document::Node& node = subtree.document().nodes_[subtree.node()];
      return add(node.kind, node.payload);
    }
  }
  open(subtree.kind());
  for (Value child : subtree) {
    if (subtree.is_object()) key(child.key());
    copy(child);
  }
  return close(subtree.kind());
}

Document DocumentBuilder::finish(std::string name) && {
  expect(open_.empty() && !document_.nodes_.empty(), "finished before its root value is");
  document_.name_ = std::move(name);
  return std::move(document_);
}

}  // namespace ge
