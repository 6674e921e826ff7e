// CBOR through nlohmann_json's SAX reader, after scan_cbor has bounded it. Entry: parse_cbor.
#include <string>

#include "document/cbor_scan.h"
#include "document/sax_handler.h"

namespace ge {
namespace {

// Walks the bytes in step with the events. The scan has shown that they are well-formed.
class CborCursor {
 public:
  explicit CborCursor(ByteSpan bytes) : bytes_(bytes) {}

  int64_t value(ValueKind kind) {
    const size_t start = at_;
    const uint64_t argument = step_over_head();
    if (kind == ValueKind::kString || kind == ValueKind::kBinary) at_ += static_cast<size_t>(argument);
    return static_cast<int64_t>(start);
  }
  int64_t key() { return value(ValueKind::kString); }
  int64_t begin(bool indefinite) {
    const size_t start = at_;
    step_over_head();
    indefinite_.push_back(indefinite);
    return static_cast<int64_t>(start);
  }
  void end() {
    if (indefinite_.back()) ++at_;
    indefinite_.pop_back();
  }
  bool fault(DocumentSink& sink, size_t position, const std::string& what) const {
    return sink.stop(Code::json_syntax, "not valid CBOR", what,
                     static_cast<int64_t>(position ? position - 1 : 0));
  }

 private:
  uint64_t step_over_head() {
    const unsigned info = static_cast<unsigned>(bytes_[at_++]) & 31;
    if (info < 24 || info == 31) return info;
    uint64_t argument = 0;
    for (size_t i = 0; i < (size_t{1} << (info - 24)); ++i)
      argument = argument << 8 | static_cast<uint8_t>(bytes_[at_++]);
    return argument;
  }

  ByteSpan bytes_;
  size_t at_ = 0;
  std::vector<bool> indefinite_;
};

}  // namespace

Result<Document> parse_cbor(ByteSpan bytes, std::string name, DocumentLimits limits) {
  limits.max_bytes = std::min(limits.max_bytes, int64_t{UINT32_MAX});
  limits.max_depth = std::min(limits.max_depth, 1000);
  if (static_cast<int64_t>(bytes.size()) > limits.max_bytes) {
    return fail(Code::document_limit)
        .say("document is too large")
        .at(name)
        .because(std::to_string(bytes.size()) + " bytes; allowed are " + std::to_string(limits.max_bytes));
  }
  try {
    GE_TRY(scan_cbor(bytes, name, limits));
    DocumentSink sink(name, limits, bytes.size());
    CborCursor cursor(bytes);
    SaxHandler<CborCursor> handler(sink, cursor);
    const std::string_view text = as_text(bytes);
    const bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &handler,
                                                    nlohmann::json::input_format_t::cbor, true);
    if (!complete && !sink.stopped())
      sink.stop(Code::internal, "the CBOR reader stopped without a reason", "", 0);
    return sink.finish();
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory).say("out of memory while reading '" + name + "'").at(name);
  } catch (const std::exception& e) {
    return fail(Code::internal).say("the CBOR reader failed").at(name).because(e.what());
  }
}

}  // namespace ge
