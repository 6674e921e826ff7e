// The .npy header: a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
// Entry: read_npy_header.
#include <charconv>

#include "tensor_file/npy.h"
#include "tensor_file/npy_format.h"

namespace ge {
namespace {

Diagnostic corrupt(const std::string& name, std::string found) {
  return fail(Code::tensor_file_corrupt)
      .say("npy file is damaged or not supported")
      .at(name)
      .because(std::move(found));
}

// What a dtype string says, for those that are refused.
std::string what_is(std::string_view descr) {
  const char kind = descr.size() > 1 ? descr[1] : '?';
  const std::string shown = "dtype '" + shortened(descr) + "'";
  if (!descr.empty() && descr[0] == '>') return shown + " is big-endian";
  switch (kind) {
    case 'O':
      return shown + " is Python objects";
    case 'U':
    case 'S':
    case 'a':
      return shown + " is text";
    case 'c':
      return shown + " is complex numbers";
    case 'M':
    case 'm':
      return shown + " is dates or times";
    case 'V':
      return shown + " is raw bytes (bfloat16 and float8 arrays are saved so)";
    default:
      return shown + " is not supported";
  }
}

std::string fix_for(std::string_view descr) {
  if (!descr.empty() && descr[0] == '>')
    return "save it as little-endian: np.save(f, a.astype(a.dtype.newbyteorder('<')))";
  if (descr.size() > 1 && descr[1] == 'V') return "npy has no such type: save it as safetensors";
  return "save it as a plain numeric or bool array";
}

std::optional<DType> dtype_of(std::string_view descr) {
  if (descr.size() < 3) return std::nullopt;
  const std::string_view type = descr.substr(1);
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string_view known = npy_descr(dtype);
    if (known.empty() || known.substr(1) != type) continue;
    // '=' is the writer's own order, which is ours on every machine ge runs on; one byte has no order.
    const bool any_order = known[0] == '|';
    if (descr[0] == '<' || descr[0] == '=' || (any_order && (descr[0] == '|' || descr[0] == '>')))
      return dtype;
  }
  return std::nullopt;
}

// Reads the literal. Each method leaves `error_` set and returns false where the text is something else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<NpyHeader> parse() {
    bool seen[3] = {};
    if (!take('{')) return syntax("'{'");
    while (!take('}')) {
      std::string_view key;
      if (!string(key)) return syntax("a key");
      if (!take(':')) return syntax("':'");
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0) return corrupt(name_, "header has an unknown key '" + shortened(key) + "'");
      if (seen[which]) return corrupt(name_, "header has the key '" + std::string(key) + "' twice");
      seen[which] = true;
      if (which == 0) GE_TRY(descr());
      if (which == 1) GE_TRY(order());
      if (which == 2) GE_TRY(shape());
      if (!take(',') && peek() != '}') return syntax("',' or '}'");
    }
    for (int i = 0; i < 3; ++i) {
      static constexpr const char* kNames[] = {"descr", "fortran_order", "shape"};
      if (!seen[i]) return corrupt(name_, std::string("header lacks '") + kNames[i] + "'");
    }
    if (peek() != '\0') return syntax("the end");
    return std::move(header_);
  }

 private:
  char peek() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool string(std::string_view& out) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return false;
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return false;
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return out.find('\\') == std::string_view::npos;
  }
  Diagnostic syntax(const std::string& expected) {
    peek();
    return corrupt(name_, "header is not what numpy writes: " + expected + " expected at byte " +
                              std::to_string(at_) + " of the header");
  }

  Status descr() {
    if (peek() == '[') {
      return corrupt(name_, "the dtype is structured (it has fields)")
          .try_("save each field as an array of its own");
    }
    std::string_view text;
    if (!string(text)) return syntax("a dtype string");
    const std::optional<DType> dtype = dtype_of(text);
    if (!dtype) return corrupt(name_, what_is(text)).try_(fix_for(text));
    header_.dtype = *dtype;
    return {};
  }

  Status order() {
    if (take_word("True")) {
      header_.fortran_order = true;
    } else if (!take_word("False")) {
      return syntax("True or False");
    }
    return {};
  }

  Status shape() {
    if (!take('(')) return syntax("'('");
    bool comma = true;
    while (!take(')')) {
      if (!comma) return syntax("',' or ')'");
      peek();
      int64_t dim = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error == std::errc::result_out_of_range)
        return corrupt(name_, "a dim of the shape does not fit in 64 bits");
      if (error != std::errc()) return syntax("a dim");
      if (dim < 0) return corrupt(name_, "the shape has a negative dim, " + std::to_string(dim));
      at_ += static_cast<size_t>(end - begin);
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
      header_.dims.push_back(dim);
      if (header_.dims.size() > kMostNpyRank) {
        return corrupt(name_, "the shape has more than " + std::to_string(kMostNpyRank) + " dims");
      }
      comma = take(',');
    }
    return {};
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  NpyHeader header_;
};

// That the file holds exactly the elements which the header claims.
Status check_size(const NpyHeader& header, int64_t file_size, const std::string& name) {
  const std::string what = std::string(name_of(header.dtype)) + " " + dims_to_string(header.dims);
  const MaybeInt size = tensor_bytes(header.dtype, header.dims);
  if (!size) return corrupt(name, "the size of " + what + " overflows");
  const int64_t there = file_size - header.data_offset;
  if (there == *size) return {};
  return corrupt(name, what + " needs " + std::to_string(*size) + " bytes, " + std::to_string(there) +
                           " are there: the file is " +
                           (there < *size ? "truncated" : "followed by something else"));
}

}  // namespace

Result<NpyPreamble> read_npy_preamble(ByteSpan prefix, int64_t file_size, const std::string& name) {
  if (file_size == 0)
    return fail(Code::empty_file).say("'" + name + "' is empty").at(name).because("an npy file was expected");
  if (prefix.size() < kNpyMagic.size() || as_text(prefix.first(kNpyMagic.size())) != kNpyMagic) {
    return corrupt(name, "it does not start as an npy file does");
  }
  if (prefix.size() < kNpyMagic.size() + 2) return corrupt(name, "the file is truncated inside its header");
  const int major = static_cast<int>(prefix[6]);
  const int minor = static_cast<int>(prefix[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return corrupt(name, "npy version " + std::to_string(major) + "." + std::to_string(minor) +
                             "; known are 1.0, 2.0 and 3.0");
  }
  NpyPreamble preamble;
  preamble.header_offset = major == 1 ? 10 : 12;
  if (static_cast<int64_t>(prefix.size()) < preamble.header_offset) {
    return corrupt(name, "the file is truncated inside its header");
  }
  preamble.header_size =
      major == 1 ? load_as<uint16_t>(prefix.data() + 8) : load_as<uint32_t>(prefix.data() + 8);
  if (preamble.header_size > kMostNpyHeader) {
    return corrupt(name, "header claims " + std::to_string(preamble.header_size) + " bytes; allowed are " +
                             std::to_string(kMostNpyHeader));
  }
  if (preamble.header_offset + preamble.header_size > file_size) {
    return corrupt(name, "the file is truncated inside its header");
  }
  return preamble;
}

Result<NpyHeader> read_npy_header(ByteSpan prefix, int64_t file_size, const std::string& name) {
  GE_ASSIGN(const NpyPreamble preamble, read_npy_preamble(prefix, file_size, name));
  const int64_t end = preamble.header_offset + preamble.header_size;
  if (end > static_cast<int64_t>(prefix.size()))
    return corrupt(name, "the file is truncated inside its header");
  const ByteSpan text =
      prefix.subspan(static_cast<size_t>(preamble.header_offset), static_cast<size_t>(preamble.header_size));
  GE_ASSIGN(NpyHeader header, HeaderParser(as_text(text), name).parse());
  header.data_offset = end;
  GE_TRY(check_size(header, file_size, name));
  return header;
}

}  // namespace ge
