// JSON, scanned once: every byte is checked here, and nothing is kept but where containers start and end.
// Entry: parse_json. What is said of faults follows nlohmann_json's words, which accepts the same texts (a
// test holds both together).
#include <array>
#include <charconv>

#include "document/document_sink.h"
#include "document/json_text.h"
#include "document/utf8.h"

namespace ge {
namespace {

enum class Token : uint8_t {
  kTrue,
  kFalse,
  kNull,
  kString,
  kNumber,
  kBeginArray,
  kBeginObject,
  kEndArray,
  kEndObject,
  kColon,
  kComma,
  kEnd,
  kWrong
};

std::string_view name_of(Token token) {
  static constexpr std::string_view kNames[] = {"true literal",
                                                "false literal",
                                                "null literal",
                                                "string literal",
                                                "number literal",
                                                "'['",
                                                "'{'",
                                                "']'",
                                                "'}'",
                                                "':'",
                                                "','",
                                                "end of input",
                                                "<parse error>"};
  return kNames[static_cast<size_t>(token)];
}

// Bytes that stand for themselves in a string.
constexpr std::array<bool, 256> make_plain() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> kPlain = make_plain();

class JsonScan {
 public:
  JsonScan(std::string_view text, DocumentSink& sink) : text_(text), sink_(sink) {}

  // False where the sink was told of a fault.
  bool run() {
    next();
    while (true) {
      bool ended = true;
      if (!value(ended)) return false;
      while (ended) {
        next();
        if (!sink_.is_open()) return token_ == Token::kEnd || unexpected("value", "end of input");
        const bool object = sink_.in_object();
        if (token_ == Token::kComma) {
          next();
          if (object && !key()) return false;
          ended = false;
        } else if (token_ == (object ? Token::kEndObject : Token::kEndArray)) {
          if (!sink_.end(at_)) return false;
        } else {
          return unexpected(object ? "object" : "array", object ? "'}'" : "']'");
        }
      }
    }
  }

 private:
  // A scalar, an empty container, or the start of a container up to its first value: that has not `ended`.
  bool value(bool& ended) {
    const bool object = token_ == Token::kBeginObject;
    switch (token_) {
      case Token::kBeginArray:
      case Token::kBeginObject:
        if (!sink_.begin(object, start_)) return false;
        next();
        if (token_ == (object ? Token::kEndObject : Token::kEndArray)) return sink_.end(at_);
        ended = false;
        return !object || key();
      case Token::kNumber:
        return check_number() && sink_.scalar(start_);
      case Token::kTrue:
      case Token::kFalse:
      case Token::kNull:
        return sink_.scalar(start_);
      case Token::kString:
        return sink_.scalar(start_, true);
      default:
        return unexpected("value", token_ == Token::kWrong ? "" : "'[', '{', or a literal");
    }
  }

  // A key and its colon, up to the value.
  bool key() {
    if (token_ != Token::kString) return unexpected("object key", "string literal");
    if (!sink_.key(start_)) return false;
    next();
    if (token_ != Token::kColon) return unexpected("object separator", "':'");
    next();
    return true;
  }

  bool unexpected(const std::string& while_parsing, const std::string& expected) {
    const bool wrong = token_ == Token::kWrong;
    const std::string found = wrong ? reason_ : "unexpected " + std::string(name_of(token_));
    return sink_.stop(
        Code::json_syntax, "not valid JSON",
        found + (expected.empty() ? "" : "; expected " + expected) + " (while parsing " + while_parsing + ")",
        wrong ? at_ : start_);
  }

  // That a number is one of 64 bits, or a double.
  bool check_number() {
    const std::string_view token = text_.substr(start_, at_ - start_);
    if (!has_exponent_ && token.size() <= 18) return true;
    if (!has_exponent_ && !has_fraction_) {
      const char *begin = token.data(), *end = begin + token.size();
      int64_t small = 0;
      uint64_t large = 0;
      if (std::from_chars(begin, end, small).ec == std::errc() ||
          (token[0] != '-' && std::from_chars(begin, end, large).ec == std::errc()))
        return true;
      const std::string shown = shortened(token);
      return sink_.stop(Code::json_syntax, "integer does not fit in 64 bits", "found " + shown, start_,
                        "write it with a fraction (" + shown + ".0) where a floating-point number is meant");
    }
    if (json_text::double_of(token)) return true;
    return sink_.stop(Code::json_syntax, "not valid JSON",
                      "number overflow parsing '" + shortened(token) + "'", start_);
  }

  // ---- tokens ----
  int peek() const { return at_ < text_.size() ? static_cast<uint8_t>(text_[at_]) : -1; }
  // The token is wrong by the byte at at_, or by the text's end there.
  void wrong(std::string reason) {
    token_ = Token::kWrong;
    reason_ = std::move(reason);
  }

  void next() {
    if (at_ == 0 && peek() == 0xef && !skip_mark()) return;
    while (true) {
      while (at_ < text_.size() && json_text::is_space(text_[at_])) ++at_;
      if (peek() != '/') break;
      if (!skip_comment()) return;
    }
    start_ = at_;
    switch (peek()) {
      case -1:
        token_ = Token::kEnd;
        return;
      case '[':
        return single(Token::kBeginArray);
      case ']':
        return single(Token::kEndArray);
      case '{':
        return single(Token::kBeginObject);
      case '}':
        return single(Token::kEndObject);
      case ':':
        return single(Token::kColon);
      case ',':
        return single(Token::kComma);
      case 't':
        return literal(Token::kTrue, "true");
      case 'f':
        return literal(Token::kFalse, "false");
      case 'n':
        return literal(Token::kNull, "null");
      case '"':
        return string();
      default:
        if (peek() == '-' || json_text::is_digit(text_[at_])) return number();
        wrong("invalid literal");
    }
  }
  void single(Token token) {
    token_ = token;
    ++at_;
  }
  void literal(Token token, std::string_view word) {
    for (const char c : word) {
      if (peek() != c) return wrong("invalid literal");
      ++at_;
    }
    token_ = token;
  }

  // A byte order mark.
  bool skip_mark() {
    for (const int byte : {0xef, 0xbb, 0xbf}) {
      if (peek() != byte) return wrong("invalid BOM; must be 0xEF 0xBB 0xBF if given"), false;
      ++at_;
    }
    return true;
  }
  bool skip_comment() {
    ++at_;
    const int kind = peek();
    if (kind != '/' && kind != '*') return wrong("invalid comment; expecting '/' or '*' after '/'"), false;
    const size_t end = kind == '*' ? text_.find("*/", at_ + 1) : text_.find_first_of("\r\n", at_);
    at_ = std::min(end, text_.size());
    if (kind == '*' && end == std::string_view::npos)
      return wrong("invalid comment; missing closing '*/'"), false;
    if (kind == '*') at_ += 2;
    return true;
  }

  bool digits(const char* reason) {
    if (peek() < '0' || peek() > '9') return wrong(reason), false;
    while (at_ < text_.size() && json_text::is_digit(text_[at_])) ++at_;
    return true;
  }
  void number() {
    if (peek() == '-') ++at_;
    if (peek() == '0')
      ++at_;
    else if (!digits("invalid number; expected digit after '-'"))
      return;
    has_fraction_ = peek() == '.';
    if (has_fraction_) {
      ++at_;
      if (!digits("invalid number; expected digit after '.'")) return;
    }
    has_exponent_ = peek() == 'e' || peek() == 'E';
    if (has_exponent_) {
      ++at_;
      const bool sign = peek() == '+' || peek() == '-';
      if (sign) ++at_;
      if (!digits(sign ? "invalid number; expected digit after exponent sign"
                       : "invalid number; expected '+', '-', or digit after exponent"))
        return;
    }
    token_ = Token::kNumber;
  }

  void string() {
    for (++at_;;) {
      while (at_ < text_.size() && kPlain[static_cast<uint8_t>(text_[at_])]) ++at_;
      const int c = peek();
      if (c == '"') return single(Token::kString);
      if (c == -1) return wrong("invalid string: missing closing quote");
      if (c < 0x20) return wrong(control_character(c));
      if (!(c == '\\' ? escape() : sequence())) return;
    }
  }

  static std::string control_character(int c) {
    static constexpr std::string_view kNames[] = {"NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL",
                                                  "BS",  "HT",  "LF",  "VT",  "FF",  "CR",  "SO",  "SI",
                                                  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB",
                                                  "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS",  "US"};
    static constexpr std::string_view kShort = "\b\t\n\f\r", kLetters = "btnfr";
    const std::string code = {'0', '0', c < 16 ? '0' : '1', "0123456789ABCDEF"[c & 15]};
    const size_t known = kShort.find(static_cast<char>(c));
    return "invalid string: control character U+" + code + " (" + std::string(kNames[c]) +
           ") must be escaped to \\u" + code +
           (known == std::string_view::npos ? "" : std::string(" or \\") + kLetters[known]);
  }

  // UTF-8 of more than one byte.
  bool sequence() {
    const Utf8Sequence found = utf8_sequence(text_.substr(at_));
    at_ += found.size;
    return found.well_formed || (wrong("invalid string: ill-formed UTF-8 byte"), false);
  }

  bool escape() {
    ++at_;
    static constexpr std::string_view kKnown = "\"\\/bfnrt";
    if (peek() != 'u') {
      if (peek() == -1 || kKnown.find(static_cast<char>(peek())) == std::string_view::npos)
        return wrong("invalid string: forbidden character after backslash"), false;
      ++at_;
      return true;
    }
    int code = 0;
    if (!hex4(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) {
      --at_;
      return wrong("invalid string: surrogate U+DC00..U+DFFF must follow U+D800..U+DBFF"), false;
    }
    if (code < 0xd800 || code > 0xdbff) return true;
    constexpr const char* kAlone =
        "invalid string: surrogate U+D800..U+DBFF must be followed by U+DC00..U+DFFF";
    if (peek() != '\\') return wrong(kAlone), false;
    ++at_;
    if (peek() != 'u') return wrong(kAlone), false;
    if (!hex4(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return true;
    --at_;
    return wrong(kAlone), false;
  }
  bool hex4(int& code) {
    ++at_;
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const int digit = peek() == -1 ? -1 : json_text::hex_digit(text_[at_]);
      if (digit < 0) return wrong("invalid string: '\\u' must be followed by 4 hex digits"), false;
      code = code << 4 | digit;
    }
    return true;
  }

  std::string_view text_;
  DocumentSink& sink_;
  size_t start_ = 0, at_ = 0;  // of the token, and one past it
  Token token_ = Token::kEnd;
  bool has_fraction_ = false, has_exponent_ = false;  // of the number
  std::string reason_;                                // of kWrong
};

}  // namespace

Result<Document> parse_json(ByteSpan bytes, std::string name, DocumentLimits limits) {
  const std::string_view text = as_text(bytes);
  if (text.empty())
    return fail(Code::empty_file).say("'" + name + "' is empty").at(name).because("JSON was expected");
  GE_TRY(check_length(bytes, name, limits, "keep large arrays in a tensor file beside it"));
  try {
    DocumentSink sink(DocumentForm::kJson, text, name, limits);
    // Within a comment it would be taken for text, elsewhere it is no token: one word for both.
    if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
      sink.stop(Code::json_syntax, "not valid JSON", "the text holds a NUL byte", nul);
    else
      JsonScan(text, sink).run();
    return sink.finish();
  } catch (const std::bad_alloc&) {
    return fail(Code::out_of_memory).say("out of memory while reading '" + name + "'").at(name);
  }
}

}  // namespace ge
