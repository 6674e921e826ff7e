// Documents to JSON text and CBOR bytes. Entry: to_json, to_cbor. Single values are spelt by nlohmann_json
// (and doubles by std::to_chars, whose text is the shortest); the containers around them are walked here, so
// no second tree is built.
#include "document/writer.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "document/base64.h"
#include "document/cbor_bytes.h"

namespace ge {

namespace {

using Json = nlohmann::json;

constexpr int64_t kWidth = 110;

template <class T>
std::string shortest(T value) {
  char text[40];
  std::string out(text, std::to_chars(text, text + sizeof text, value).ptr);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

std::string number_text(Value v) {
  const double value = *v.as_double();
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  return v.is_float() ? shortest(static_cast<float>(value)) : shortest(value);
}

std::string string_text(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string scalar_text(Value v) {
  switch (v.kind()) {
    case ValueKind::kNull:
      return "null";
    case ValueKind::kBool:
      return *v.as_bool() ? "true" : "false";
    case ValueKind::kInt64:
      return std::to_string(*v.as_int64());
    case ValueKind::kUint64:
      return std::to_string(*v.as_uint64());
    case ValueKind::kDouble:
      return number_text(v);
    case ValueKind::kString:
      return string_text(*v.as_string());
    case ValueKind::kBinary:
      return "\"" + base64_encode(*v.as_binary()) + "\"";
    case ValueKind::kArray:
    case ValueKind::kObject:
      break;
  }
  return "";
}

int64_t columns_of(std::string_view text) {
  int64_t columns = 0;
  for (const char c : text) columns += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return columns;
}

class JsonPrinter {
 public:
  explicit JsonPrinter(int indent) : indent_(indent) {}

  std::string print(Value root) {
    if (indent_ < 0) {
      print_on_one_line(root, false);
    } else {
      print_value(root, 0, 0);
    }
    return std::move(out_);
  }

 private:
  // Columns that `v` takes on one line, or more than `room` where it is wider: the walk stops there, so the
  // cost is bounded by what fits.
  int64_t width_of(Value v, int64_t room) const {
    if (!v.is_array() && !v.is_object()) return columns_of(scalar_text(v));
    int64_t width = v.is_empty() || v.is_array() ? 2 : 4;
    for (Value child : v) {
      if (v.is_object()) width += columns_of(string_text(child.key())) + 2;
      width += width_of(child, room - width) + 2;
      if (width - 2 > room) break;
    }
    return v.is_empty() ? width : width - 2;
  }

  void print_on_one_line(Value v, bool spaced) {
    if (!v.is_array() && !v.is_object()) {
      out_ += scalar_text(v);
      return;
    }
    const bool object = v.is_object();
    const char* const edge = object && spaced && !v.is_empty() ? " " : "";
    out_.append(object ? "{" : "[").append(edge);
    bool first = true;
    for (Value child : v) {
      if (!first) out_ += spaced ? ", " : ",";
      first = false;
      if (object) out_.append(string_text(child.key())).append(spaced ? ": " : ":");
      print_on_one_line(child, spaced);
    }
    out_.append(edge).append(object ? "}" : "]");
  }

  void new_line(int level) {
    out_ += '\n';
    line_start_ = out_.size();
    out_.append(static_cast<size_t>(level * indent_), ' ');
  }
  int64_t column() const { return columns_of(std::string_view(out_).substr(line_start_)); }

  static bool only_scalars(Value v) {
    for (Value child : v) {
      if (child.is_array() || child.is_object()) return false;
    }
    return true;
  }

  // `trailing`: columns that follow on the line (a comma).
  void print_value(Value v, int level, int64_t trailing) {
    const int64_t room = kWidth - trailing - column();
    if ((!v.is_array() && !v.is_object()) || v.is_empty() || width_of(v, room) <= room) {
      print_on_one_line(v, true);
    } else if (v.is_array() && only_scalars(v)) {
      print_filled(v, level);
    } else {
      print_broken(v, level);
    }
  }

  void print_broken(Value v, int level) {
    out_ += v.is_object() ? '{' : '[';
    int64_t left = v.size();
    for (Value child : v) {
      new_line(level + 1);
      if (v.is_object()) out_.append(string_text(child.key())).append(": ");
      --left;
      print_value(child, level + 1, left ? 1 : 0);
      if (left) out_ += ',';
    }
    new_line(level);
    out_ += v.is_object() ? '}' : ']';
  }

  // Scalars, as many on a line as fit.
  void print_filled(Value v, int level) {
    out_ += '[';
    new_line(level + 1);
    int64_t at = (level + 1) * indent_;
    int64_t left = v.size();
    bool first = true;
    for (Value child : v) {
      const std::string text = scalar_text(child) + (--left ? "," : "");
      const int64_t width = columns_of(text);
      if (!first && at + 1 + width > kWidth) {
        new_line(level + 1);
        at = (level + 1) * indent_;
        first = true;
      }
      if (!first) out_ += ' ';
      out_ += text;
      at += width + (first ? 0 : 1);
      first = false;
    }
    new_line(level);
    out_ += ']';
  }

  int indent_;
  std::string out_;
  size_t line_start_ = 0;
};

class CborPrinter {
 public:
  std::vector<std::byte> print(const Document& document) {
    print_value(document.root());
    const ByteSpan bytes = as_bytes(out_);
    return {bytes.begin(), bytes.end()};
  }

 private:
  void leaf(const Json& value) { Json::to_cbor(value, adapter_); }

  void print_value(Value v) {
    switch (v.kind()) {
      case ValueKind::kNull:
        return leaf(nullptr);
      case ValueKind::kBool:
        return leaf(*v.as_bool());
      case ValueKind::kInt64:
        return leaf(*v.as_int64());
      case ValueKind::kUint64:
        return leaf(*v.as_uint64());
      case ValueKind::kDouble:
        return leaf(*v.as_double());
      case ValueKind::kString:
        return leaf(*v.as_string());
      case ValueKind::kBinary: {
        const ByteSpan bytes = *v.as_binary();
        const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
        return leaf(Json::binary(std::vector<uint8_t>(data, data + bytes.size())));
      }
      case ValueKind::kArray:
      case ValueKind::kObject:
        break;
    }
    // A container's opening: nlohmann writes only whole values.
    cbor::append_head(out_, v.is_object() ? cbor::kMap : cbor::kArray, static_cast<uint64_t>(v.size()));
    for (Value child : v) {
      if (v.is_object()) leaf(child.key());
      print_value(child);
    }
  }

  std::string out_;
  nlohmann::detail::output_adapter<char> adapter_{out_};
};

}  // namespace

std::string to_json(Value subtree, int indent) {
  return JsonPrinter(indent).print(subtree);
}
std::string to_json(const Document& document, int indent) {
  return to_json(document.root(), indent);
}
std::vector<std::byte> to_cbor(const Document& document) {
  return CborPrinter().print(document);
}

}  // namespace ge
