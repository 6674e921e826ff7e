// Making documents and writing them. Entry: DocumentBuilder -> Document; to_json, to_cbor.
// Invariant: the same document gives the same bytes everywhere; members keep the order in which they were
// added.
//
//   DocumentBuilder b;
//   b.begin_object().key("axis").value(int64_t{-1}).key("dims").begin_array().value("n").end_array().end_object();
//   std::string text = to_json(std::move(b).finish(), 2);
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/tree.h"

namespace ge {

class DocumentSink;

// Misuse (a value without a key in an object, an end that fits no begin, a key twice) is our own bug: it
// aborts with a message.
class DocumentBuilder {
 public:
  DocumentBuilder();
  DocumentBuilder(DocumentBuilder&& other) noexcept;
  ~DocumentBuilder();
  DocumentBuilder& begin_object();
  DocumentBuilder& end_object();
  DocumentBuilder& begin_array();
  DocumentBuilder& end_array();
  DocumentBuilder& key(std::string_view text);
  DocumentBuilder& null();
  DocumentBuilder& value(bool v);
  DocumentBuilder& value(int64_t v);
  DocumentBuilder& value(uint64_t v);
  DocumentBuilder& value(int v) { return value(static_cast<int64_t>(v)); }
  DocumentBuilder& value(double v);
  DocumentBuilder& value(
      float v);  // prints as the shortest text that gives this float; CBOR holds it exactly
  DocumentBuilder& value(std::string_view text);
  DocumentBuilder& value(const std::string& text) { return value(std::string_view(text)); }
  DocumentBuilder& value(const char* text) { return value(std::string_view(text)); }
  DocumentBuilder& binary(ByteSpan bytes);
  DocumentBuilder& copy(Value subtree);
  // key(name) and value(v) in one.
  template <class T>
  DocumentBuilder& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  DocumentBuilder& integers(std::span<const int64_t> values);  // an array of them

  Document finish(std::string name = "") &&;  // every container closed, one root value

 private:
  std::string& bytes();
  size_t place();
  DocumentBuilder& open(bool object);
  DocumentBuilder& close(bool object);
  void append_text(uint8_t major, std::string_view text);
  std::unique_ptr<DocumentSink> sink_;
  bool has_key_ = false;
};

// JSON text. indent < 0: one line, no spaces; else containers that fit within 110 columns stand on one line,
// others are broken with `indent` spaces a level, and long arrays of scalars are filled. Doubles: shortest
// text that reads back the same, always with '.', 'e' or "NaN", "Infinity", "-Infinity" (strings). Bytes
// print as base64 strings. No trailing newline. Ill-formed UTF-8 becomes U+FFFD.
std::string to_json(const Document& document, int indent = 2);
std::string to_json(Value subtree, int indent = 2);
// Definite lengths, shortest integers, doubles as float32 where that is exact.
std::vector<std::byte> to_cbor(const Document& document);

}  // namespace ge
