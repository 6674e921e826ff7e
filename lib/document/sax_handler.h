// nlohmann_json's SAX events, with a cursor that knows where each token starts, into a DocumentSink. Private
// to lib/document. nlohmann tells no positions: the cursor walks the (already accepted) text beside the
// events.
#pragma once
#include <bit>
#include <nlohmann/json.hpp>
#include <string>

#include "document/document_sink.h"

namespace ge {

// Cursor: int64_t value(ValueKind) and int64_t key() return where the next token starts and step over it;
// begin(is_indefinite) likewise for a container's opening; end() steps over its closing.
// fault(sink, position, text) reports what nlohmann refused after reading `position` bytes.
template <class Cursor>
class SaxHandler {
 public:
  using Json = nlohmann::json;
  SaxHandler(DocumentSink& sink, Cursor& cursor) : sink_(sink), cursor_(cursor) {}

  bool null() { return sink_.scalar(ValueKind::kNull, 0, cursor_.value(ValueKind::kNull)); }
  bool boolean(bool v) { return sink_.scalar(ValueKind::kBool, v, cursor_.value(ValueKind::kBool)); }
  bool number_integer(Json::number_integer_t v) {
    return sink_.scalar(ValueKind::kInt64, std::bit_cast<uint64_t>(v), cursor_.value(ValueKind::kInt64));
  }
  bool number_unsigned(Json::number_unsigned_t v) {
    const ValueKind kind = v >> 63 ? ValueKind::kUint64 : ValueKind::kInt64;
    return sink_.scalar(kind, v, cursor_.value(kind));
  }
  bool number_float(Json::number_float_t v, const std::string& text) {
    const int64_t offset = cursor_.value(ValueKind::kDouble);
    // nlohmann hands integers that fit no 64 bits on as doubles, which would change them silently.
    if (!text.empty() && text.find_first_of(".eE") == std::string::npos) {
      return sink_.stop(Code::json_syntax, "integer does not fit in 64 bits", "found " + text, offset,
                        "write it with a fraction (" + text + ".0) where a floating-point number is meant");
    }
    return sink_.scalar(ValueKind::kDouble, std::bit_cast<uint64_t>(v), offset);
  }
  bool string(std::string& v) { return sink_.text(ValueKind::kString, v, cursor_.value(ValueKind::kString)); }
  bool binary(Json::binary_t& v) {
    return sink_.text(ValueKind::kBinary, {reinterpret_cast<const char*>(v.data()), v.size()},
                      cursor_.value(ValueKind::kBinary));
  }
  bool key(std::string& v) { return sink_.key(v, cursor_.key()); }
  bool start_object(size_t elements) {
    return sink_.begin(ValueKind::kObject, cursor_.begin(elements == kUnknown));
  }
  bool start_array(size_t elements) {
    return sink_.begin(ValueKind::kArray, cursor_.begin(elements == kUnknown));
  }
  bool end_object() { return end_array(); }
  bool end_array() {
    cursor_.end();
    return sink_.end();
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& e) {
    return cursor_.fault(sink_, position, e.what());
  }

 private:
  static constexpr size_t kUnknown = static_cast<size_t>(-1);
  DocumentSink& sink_;
  Cursor& cursor_;
};

}  // namespace ge
