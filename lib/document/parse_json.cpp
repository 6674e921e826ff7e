// JSON through nlohmann_json's SAX parser. Entry: parse_json.
#include <string>

#include "document/sax_handler.h"

namespace ge {
namespace {

// Walks the text in step with the events. Every token it steps over was accepted by nlohmann, so it needs no
// checks of its own.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {
    if (text.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  int64_t value(ValueKind kind) {
    const size_t start = skip_to_token();
    if (kind == ValueKind::kString) {
      step_over_string();
    } else {
      while (at_ < text_.size() && in_number_or_literal(text_[at_])) ++at_;
    }
    return static_cast<int64_t>(start);
  }
  int64_t key() { return value(ValueKind::kString); }
  int64_t begin(bool) {
    const size_t start = skip_to_token();
    ++at_;
    return static_cast<int64_t>(start);
  }
  void end() { begin(false); }

  bool fault(DocumentSink& sink, size_t position, const std::string& what) const;

 private:
  static bool in_number_or_literal(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '+' || c == 'E';
  }
  size_t skip_space() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/') {
        skip_comment();
      } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        ++at_;
      } else {
        break;
      }
    }
    return at_;
  }
  size_t skip_to_token() {
    while (skip_space() < text_.size() && (text_[at_] == ',' || text_[at_] == ':')) ++at_;
    return at_;
  }
  // Also commas and colons; returns where it started.
  size_t step_over_any_token() {
    const size_t start = skip_space();
    if (start < text_.size() && text_[start] == '"') {
      step_over_string();
    } else if (start < text_.size() && in_number_or_literal(text_[start])) {
      while (at_ < text_.size() && in_number_or_literal(text_[at_])) ++at_;
    } else {
      ++at_;
    }
    return start;
  }
  void skip_comment() {
    const bool block = text_.substr(at_, 2) == "/*";
    const size_t end = block ? text_.find("*/", at_ + 2) : text_.find_first_of("\r\n", at_);
    at_ = std::min(end == std::string_view::npos ? end : end + (block ? 2 : 0), text_.size());
  }
  void step_over_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// "[json.exception...] parse error at line 1, column 2: syntax error while parsing value - what; expected
// this" -> "what; expected this".
std::string reason_of(std::string what) {
  for (const char* mark : {"] ", "column ", ": "}) {
    const size_t at = what.find(mark);
    if (at != std::string::npos) what.erase(0, at + std::strlen(mark));
  }
  if (what.starts_with("syntax error ")) what.erase(0, 13);
  // What it read last may be long, ill-formed or more than the token; the place says it better.
  if (const size_t read = what.find("; last read: '"); read != std::string::npos) {
    const size_t expected = what.rfind("'; expected ");
    what.erase(read, expected == std::string::npos ? expected : expected + 1 - read);
  }
  const size_t dash = what.find(" - ");
  if (dash != std::string::npos && what.starts_with("while parsing ")) {
    return what.substr(dash + 3) + " (" + what.substr(0, dash) + ")";
  }
  return what;
}

// An unexpected token is shown from its start; a token that is itself wrong, at the character that makes it
// so. nlohmann tells only how far it has read, so the tokens after the last event are walked up to there.
bool JsonCursor::fault(DocumentSink& sink, size_t position, const std::string& what) const {
  const std::string reason = reason_of(what);
  size_t offset = std::min(position > 0 ? position - 1 : 0, text_.size());
  if (position > text_.size()) {
    offset = text_.size();
  } else if (!reason.starts_with("invalid")) {
    JsonCursor ahead = *this;
    while (ahead.at_ < position) offset = ahead.step_over_any_token();
  }
  return sink.stop(Code::json_syntax, "not valid JSON", reason, static_cast<int64_t>(offset));
}

}  // namespace

Result<Document> parse_json(ByteSpan bytes, std::string name, DocumentLimits limits) {
  const std::string_view text = as_text(bytes);
  if (text.empty())
    return fail(Code::empty_file).say("'" + name + "' is empty").at(name).because("JSON was expected");
  limits.max_bytes = std::min(limits.max_bytes, int64_t{UINT32_MAX});
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    return fail(Code::document_limit)
        .say("document is too large")
        .at(name)
        .because(std::to_string(text.size()) + " bytes; allowed are " + std::to_string(limits.max_bytes))
        .try_("keep large arrays in a tensor file beside it");
  }
  try {
    DocumentSink sink(name, limits, text.size());
    sink.index_lines(text);
    // nlohmann takes a NUL byte for the end of the text, and of a comment.
    if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
      sink.stop(Code::json_syntax, "not valid JSON", "the text holds a NUL byte", static_cast<int64_t>(nul));
      return sink.finish();
    }
    JsonCursor cursor(text);
    SaxHandler<JsonCursor> handler(sink, cursor);
    const bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &handler,
                                                    nlohmann::json::input_format_t::json, true, true);
    if (!complete && !sink.stopped())
      sink.stop(Code::internal, "the JSON reader stopped without a reason", "", 0);
    return sink.finish();
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory).say("out of memory while reading '" + name + "'").at(name);
  } catch (const std::exception& e) {
    return fail(Code::internal).say("the JSON reader failed").at(name).because(e.what());
  }
}

}  // namespace ge
