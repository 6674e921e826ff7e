// Literals of IR text. Entry: element_text, parse_element.
#include "compiler/ir/text_literals.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "numeric/convert.h"

namespace ge {

bool starts_ir_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_ir_name(char c) {
  return starts_ir_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

bool is_plain_ir_name(std::string_view name) {
  if (name.empty() || !starts_ir_name(name[0]) || name.find("//") != std::string_view::npos) return false;
  for (const char c : name)
    if (!continues_ir_name(c)) return false;
  return true;
}

std::string quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

namespace {
std::string with_point(std::string text) {
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// The bits of one element, in the low bits.
uint64_t element_bits(DType dtype, const void* data, int64_t index) {
  uint64_t bits = 0;
  const size_t width = static_cast<size_t>(bits_of(dtype)) / 8;
  std::memcpy(&bits, static_cast<const char*>(data) + static_cast<size_t>(index) * width, width);
  return bits;
}

uint64_t usual_nan_bits(DType dtype) {
  std::byte one[8] = {};
  store_from_double(dtype, one, 0, std::numeric_limits<double>::quiet_NaN());
  return element_bits(dtype, one, 0);
}

std::string hex_text(uint64_t bits) {
  char buffer[20];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, bits, 16).ptr;
  return "0x" + std::string(buffer, end);
}

bool parse_float_element(DType dtype, std::string_view word, void* data, int64_t index) {
  if (word.starts_with("0x")) {
    uint64_t bits = 0;
    const auto [end, code] = std::from_chars(word.data() + 2, word.data() + word.size(), bits, 16);
    const int width = bits_of(dtype);
    if (code != std::errc() || end != word.data() + word.size() || (width < 64 && bits >> width != 0))
      return false;
    std::memcpy(static_cast<char*>(data) + index * (width / 8), &bits, static_cast<size_t>(width) / 8);
    return true;
  }
  if (dtype == DType::float64) {
    const auto value = parse_double(word);
    if (value) store_from_double(dtype, data, index, *value);
    return value.has_value();
  }
  const auto value = parse_double(word);
  if (!value) return false;
  float narrow = static_cast<float>(*value);  // reading a float from the text itself rounds once
  if (std::isfinite(*value)) std::from_chars(word.data(), word.data() + word.size(), narrow);
  store_from_double(dtype, data, index, dtype == DType::float32 ? narrow : *value);
  return true;
}
// Types narrower than float32: the fewest digits that read back to the same bits.
std::string narrow_text(DType dtype, double value, uint64_t bits) {
  for (int digits = 1; digits < 9 && std::isfinite(value) && std::trunc(value) != value; ++digits) {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr;
    std::byte one[8] = {};
    if (parse_float_element(dtype, {buffer, end}, one, 0) && element_bits(dtype, one, 0) == bits)
      return with_point({buffer, end});
  }
  return float_text(static_cast<float>(value));
}
}  // namespace

std::string element_text(DType dtype, const void* data, int64_t index) {
  switch (class_of(dtype)) {
    case DTypeClass::kBool:
      return load_as_int64(dtype, data, index) != 0 ? "true" : "false";
    case DTypeClass::kUnsigned:
      return std::to_string(static_cast<uint64_t>(load_as_int64(dtype, data, index)));
    case DTypeClass::kSigned:
      return std::to_string(load_as_int64(dtype, data, index));
    case DTypeClass::kFloat:
      break;
  }
  const double value = load_as_double(dtype, data, index);
  if (std::isnan(value) && element_bits(dtype, data, index) != usual_nan_bits(dtype)) {
    return hex_text(element_bits(dtype, data, index));
  }
  if (dtype == DType::float64) return double_text(value);
  if (dtype == DType::float32) return float_text(static_cast<float>(value));
  return narrow_text(dtype, value, element_bits(dtype, data, index));
}

bool parse_element(DType dtype, std::string_view word, void* data, int64_t index) {
  if (is_float(dtype)) return parse_float_element(dtype, word, data, index);
  if (is_bool(dtype)) {
    if (word != "true" && word != "false") return false;
    store_from_int64(dtype, data, index, word == "true");
    return true;
  }
  if (dtype == DType::uint64) {
    uint64_t v = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
    if (code != std::errc() || end != word.data() + word.size()) return false;
    store_from_int64(dtype, data, index, static_cast<int64_t>(v));
    return true;
  }
  const auto v = parse_int(word);
  const int width = bits_of(dtype);
  const bool is_signed = class_of(dtype) == DTypeClass::kSigned;
  const int64_t low = !is_signed ? 0 : width == 64 ? INT64_MIN : -(int64_t{1} << (width - 1));
  const int64_t high = width == 64 ? INT64_MAX : (int64_t{1} << (is_signed ? width - 1 : width)) - 1;
  if (!v || *v < low || *v > high) return false;
  store_from_int64(dtype, data, index, *v);
  return true;
}

std::optional<double> parse_double(std::string_view word) {
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  double v = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (code != std::errc() || end != word.data() + word.size() || !std::isfinite(v)) return std::nullopt;
  return v;
}

std::optional<int64_t> parse_int(std::string_view word) {
  int64_t v = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), v);
  if (code != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return v;
}

}  // namespace ge
