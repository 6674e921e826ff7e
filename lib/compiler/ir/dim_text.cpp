// Dims as text: "2*batch + 1", "(seq + 3) // 4", "min(a, b)". Entry: Dim::parse, Dim::to_string.
// Invariant: parse(to_string()) gives the same dim. Names that are no identifiers stand in single quotes.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "compiler/ir/dim_poly.h"

namespace ge {

namespace {
constexpr size_t kMaxLength = 4096;
constexpr int kMaxNesting = 32;

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.';
}
bool is_plain_name(const std::string& s) {
  return !s.empty() && s != "min" && s != "max" && starts_name(s[0]) &&
         std::all_of(s.begin(), s.end(), continues_name);
}

std::string name_text(const std::string& name) {
  if (is_plain_name(name)) return name;
  std::string out = "'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// As a factor or divisor: a sum, a product and a negative number need parentheses there.
std::string factor_text(const Dim& d) {
  const std::string text = d.to_string();
  const bool simple = std::all_of(text.begin(), text.end(), continues_name);
  return simple ? text : "(" + text + ")";
}

std::string atom_text(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::kSymbol:
      return name_text(atom.name);
    case AtomKind::kFloorDiv:
      return "(" + factor_text(atom.a) + " // " + factor_text(atom.b) + ")";
    case AtomKind::kMod:
      return "(" + factor_text(atom.a) + " % " + factor_text(atom.b) + ")";
    case AtomKind::kMin:
      return "min(" + atom.a.to_string() + ", " + atom.b.to_string() + ")";
    case AtomKind::kMax:
      return "max(" + atom.a.to_string() + ", " + atom.b.to_string() + ")";
  }
  return "?";
}

std::string term_text(const Dim::Poly::Term& term, int64_t magnitude) {
  std::string out;
  if (magnitude != 1 || term.monomial.empty()) out = std::to_string(magnitude);
  for (const AtomPtr& atom : term.monomial) {
    if (!out.empty()) out += "*";
    out += atom_text(*atom);
  }
  return out;
}

// Recursive descent; `error_` is the first fault and ends the parse.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Dim> parse() {
    if (text_.size() > kMaxLength) return fault("the expression is longer than 4096 characters");
    Dim d = sum();
    skip_space();
    if (error_.empty() && at_ != text_.size()) say("an operator or the end");
    if (!error_.empty()) return fault(error_);
    if (d.overflowed())
      return fault("its value overflows, divides by zero, or it is too large an expression");
    return d;
  }

 private:
  Diagnostic fault(const std::string& why) const {
    return fail(Code::bad_dim)
        .because(visible_line("found \"" + std::string(text_.substr(0, 80)) + "\": " + why))
        .try_("write an integer, a name, or an expression with + - * / // % ( ) min max");
  }
  void say(const std::string& expected) {
    if (!error_.empty()) return;
    const std::string what = at_ < text_.size() ? "'" + std::string(1, text_[at_]) + "'" : "the end";
    error_ = what + " at character " + std::to_string(at_ + 1) + " where " + expected + " is expected";
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) say("'" + std::string(token) + "'");
  }

  Dim sum() {
    Dim left = product();
    while (error_.empty()) {
      if (take("+")) {
        left = left + product();
      } else if (take("-")) {
        left = left - product();
      } else {
        break;
      }
    }
    return left;
  }
  Dim product() {
    Dim left = unary();
    while (error_.empty()) {
      if (take("*")) {
        left = left * unary();
      } else if (take("//")) {
        left = Dim::floor_div(left, unary());
      } else if (take("/")) {
        left = exact(left, unary());
      } else if (take("%")) {
        left = Dim::mod(left, unary());
      } else {
        break;
      }
    }
    return left;
  }
  // a / b, which must be whole whatever the names are.
  Dim exact(const Dim& a, const Dim& b) {
    if (a.overflowed() || b.overflowed() || b.is_value(0)) return Dim::floor_div(a, b);
    const auto quotient = Dim::exact_quotient(a, b);
    if (!quotient && error_.empty())
      error_ = a.to_string() + " / " + b.to_string() + " may be no whole number; // rounds down";
    return quotient ? *quotient : Dim(0);
  }
  Dim unary() {
    if (++depth_ > kMaxNesting) {
      if (error_.empty()) error_ = "it is nested more than 32 deep";
      return 0;
    }
    const bool negative = take("-");
    skip_space();
    const bool digit = at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
    // The sign belongs to the number, so that INT64_MIN can be written.
    const Dim d = digit ? number(negative) : negative ? Dim(0) - unary() : primary();
    --depth_;
    return d;
  }
  Dim primary() {
    skip_space();
    if (take("(")) {
      const Dim d = sum();
      expect(")");
      return d;
    }
    if (at_ < text_.size() && text_[at_] == '\'') return quoted();
    if (at_ < text_.size() && starts_name(text_[at_])) return named();
    say("a number, a name or '('");
    return 0;
  }
  Dim number(bool negative) {
    uint64_t v = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
    if (code != std::errc() || v > limit) {
      if (error_.empty())
        error_ = "the number at character " + std::to_string(at_ + 1) + " does not fit in 64 bits";
      return 0;
    }
    at_ = static_cast<size_t>(end - text_.data());
    if (at_ < text_.size() && continues_name(text_[at_])) say("an operator or the end");
    return static_cast<int64_t>(negative ? 0 - v : v);
  }
  Dim named() {
    const size_t start = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (name != "min" && name != "max") return Dim::symbol(name);
    expect("(");
    Dim left = sum();
    do {
      expect(",");
      if (!error_.empty()) return 0;
      const Dim right = sum();
      left = name == "min" ? Dim::min(left, right) : Dim::max(left, right);
      skip_space();
    } while (error_.empty() && at_ < text_.size() && text_[at_] == ',');
    expect(")");
    return left;
  }
  Dim quoted() {
    std::string name;
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      name += text_[at_];
    }
    if (name.empty()) say("a name");
    expect("'");
    return Dim::symbol(name);
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};
}  // namespace

Result<Dim> Dim::parse(std::string_view text) {
  return Parser(text).parse();
}

std::string Dim::to_string() const {
  if (is_static()) return std::to_string(constant_);
  if (poly_->overflow) return "overflow";
  std::string out;
  for (const Poly::Term& t : poly_->terms) {
    const bool negative = t.coefficient < 0;
    if (out.empty()) {
      out = negative ? "-" : "";
    } else {
      out += negative ? " - " : " + ";
    }
    out += term_text(t, negative ? -t.coefficient : t.coefficient);
  }
  return out;
}

std::string to_string(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += dims[i].to_string();
  }
  return out + "]";
}

}  // namespace ge
