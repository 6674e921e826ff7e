// Documents made by ge itself: CBOR, whose containers have no lengths yet. Entry: DocumentBuilder. Misuse
// aborts: it can only be our own bug.
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "document/cbor_bytes.h"
#include "document/document_sink.h"
#include "document/writer.h"

namespace ge {
namespace {

constexpr DocumentLimits kNoLimits{.max_depth = 1000, .max_nodes = INT64_MAX};  // the writer recurses

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "ge: internal error: DocumentBuilder: %s\n", what);
  std::abort();
}

template <class T>
void append_bits(std::string& out, T bits) {
  for (size_t i = sizeof bits; i-- > 0;) out += static_cast<char>(bits >> (8 * i));
}

}  // namespace

DocumentBuilder::DocumentBuilder()
    : sink_(std::make_unique<DocumentSink>(DocumentForm::kBuilt, "", "", kNoLimits)) {}
DocumentBuilder::DocumentBuilder(DocumentBuilder&& other) noexcept = default;
DocumentBuilder::~DocumentBuilder() = default;

std::string& DocumentBuilder::bytes() {
  return sink_->document().own_;
}

// Before a value: whether one may stand here, and where it starts.
size_t DocumentBuilder::place() {
  if (sink_->is_open())
    expect(sink_->in_object() == has_key_, "a key belongs before each value of an object, and nowhere else");
  else
    expect(bytes().empty(), "a second root value");
  expect(bytes().size() <= kMostDocumentBytes, "more than 4 GiB");
  has_key_ = false;
  return bytes().size();
}

DocumentBuilder& DocumentBuilder::open(bool object) {
  expect(sink_->begin(object, place()), "nested too deeply");
  bytes() += object ? '\xbf' : '\x9f';
  return *this;
}

DocumentBuilder& DocumentBuilder::close(bool object) {
  expect(sink_->is_open() && sink_->in_object() == object, "an end that fits no begin");
  expect(!has_key_, "a key without a value");
  bytes() += cbor::kBreak;
  expect(sink_->end(bytes().size()) && sink_->faultless(), "a key twice in one object");
  return *this;
}

DocumentBuilder& DocumentBuilder::begin_object() {
  return open(true);
}
DocumentBuilder& DocumentBuilder::end_object() {
  return close(true);
}
DocumentBuilder& DocumentBuilder::begin_array() {
  return open(false);
}
DocumentBuilder& DocumentBuilder::end_array() {
  return close(false);
}

DocumentBuilder& DocumentBuilder::key(std::string_view text) {
  expect(sink_->is_open() && sink_->in_object() && !has_key_, "a key outside an object, or two in a row");
  const size_t start = bytes().size();
  append_text(cbor::kText, text);
  expect(sink_->key(start), "a key twice in one object");
  has_key_ = true;
  return *this;
}

void DocumentBuilder::append_text(uint8_t major, std::string_view text) {
  cbor::append_head(bytes(), static_cast<cbor::Major>(major), text.size());
  bytes() += text;
}

DocumentBuilder& DocumentBuilder::null() {
  sink_->scalar(place());
  bytes() += '\xf6';
  return *this;
}
DocumentBuilder& DocumentBuilder::value(bool v) {
  sink_->scalar(place());
  bytes() += v ? '\xf5' : '\xf4';
  return *this;
}
DocumentBuilder& DocumentBuilder::value(int64_t v) {
  if (v >= 0) return value(static_cast<uint64_t>(v));
  sink_->scalar(place());
  cbor::append_head(bytes(), cbor::kNegative, ~static_cast<uint64_t>(v));
  return *this;
}
DocumentBuilder& DocumentBuilder::value(uint64_t v) {
  sink_->scalar(place());
  cbor::append_head(bytes(), cbor::kUnsigned, v);
  return *this;
}
DocumentBuilder& DocumentBuilder::value(double v) {
  sink_->scalar(place());
  bytes() += '\xfb';
  append_bits(bytes(), std::bit_cast<uint64_t>(v));
  return *this;
}
DocumentBuilder& DocumentBuilder::value(float v) {
  sink_->scalar(place());
  bytes() += '\xfa';
  append_bits(bytes(), std::bit_cast<uint32_t>(v));
  return *this;
}
DocumentBuilder& DocumentBuilder::value(std::string_view text) {
  sink_->scalar(place(), true);
  append_text(cbor::kText, text);
  return *this;
}
DocumentBuilder& DocumentBuilder::binary(ByteSpan bytes) {
  sink_->scalar(place());
  append_text(cbor::kBytes, as_text(bytes));
  return *this;
}

DocumentBuilder& DocumentBuilder::integers(std::span<const int64_t> values) {
  begin_array();
  for (const int64_t v : values) value(v);
  return end_array();
}

DocumentBuilder& DocumentBuilder::copy(Value subtree) {
  switch (subtree.kind()) {
    case ValueKind::kNull:
      return null();
    case ValueKind::kBool:
      return value(*subtree.as_bool());
    case ValueKind::kInt64:
      return value(*subtree.as_int64());
    case ValueKind::kUint64:
      return value(*subtree.as_uint64());
    case ValueKind::kDouble:
      return subtree.is_float() ? value(static_cast<float>(*subtree.as_double()))
                                : value(*subtree.as_double());
    case ValueKind::kString:
      return value(*subtree.as_string());
    case ValueKind::kBinary:
      return binary(*subtree.as_binary());
    case ValueKind::kArray:
    case ValueKind::kObject:
      break;
  }
  open(subtree.is_object());
  for (Value child : subtree) {
    if (subtree.is_object()) key(child.key());
    copy(child);
  }
  return close(subtree.is_object());
}

Document DocumentBuilder::finish(std::string name) && {
  expect(!sink_->is_open() && !bytes().empty(), "finished before its root value is");
  sink_->document().name_ = std::move(name);
  return std::move(*sink_->finish());
}

}  // namespace ge
