// What sizes are worth: under symbol values, within ranges, as multiples, and as postfix programs of the
// plan.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "base/text.h"
#include "compiler/ir/dim_poly.h"

namespace ge {

namespace {
using Term = Dim::Poly::Term;

int64_t saturate(__int128 v) {
  if (v > INT64_MAX) return INT64_MAX;
  if (v < INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(v);
}
}  // namespace

std::optional<int64_t> Dim::evaluate(const std::map<std::string, int64_t>& symbols) const {
  if (is_static()) return constant_;
  if (poly_->overflow) return std::nullopt;
  const auto value_of = [&](const Atom& atom) -> MaybeInt {
    if (atom.kind == AtomKind::kSymbol) {
      const auto it = symbols.find(atom.name);
      return it == symbols.end() ? std::nullopt : MaybeInt(it->second);
    }
    const MaybeInt a = atom.a.evaluate(symbols), b = atom.b.evaluate(symbols);
    if (!a || !b) return std::nullopt;
    switch (atom.kind) {
      case AtomKind::kFloorDiv:
        return ge::floor_div(*a, *b);
      case AtomKind::kMod:
        return floor_mod(*a, *b);
      case AtomKind::kMin:
        return std::min(*a, *b);
      default:
        return std::max(*a, *b);
    }
  };
  MaybeInt sum = 0;
  for (const Term& t : poly_->terms) {
    MaybeInt product = t.coefficient;
    for (const AtomPtr& atom : t.monomial) {
      const MaybeInt v = value_of(*atom);
      if (!v || !(product = checked_mul(*product, *v))) return std::nullopt;
    }
    if (!(sum = checked_add(*sum, *product))) return std::nullopt;
  }
  return sum;
}

Dim Dim::substitute(const std::map<std::string, Dim>& symbols) const {
  if (is_static() || poly_->overflow) return *this;
  const auto replaced = [&](const Atom& atom) -> Dim {
    if (atom.kind == AtomKind::kSymbol) {
      const auto it = symbols.find(atom.name);
      return it == symbols.end() ? Dim::symbol(atom.name) : it->second;
    }
    const Dim a = atom.a.substitute(symbols), b = atom.b.substitute(symbols);
    switch (atom.kind) {
      case AtomKind::kFloorDiv:
        return floor_div(a, b);
      case AtomKind::kMod:
        return mod(a, b);
      case AtomKind::kMin:
        return min(a, b);
      default:
        return max(a, b);
    }
  };
  Dim sum;
  for (const Term& t : poly_->terms) {
    Dim product = t.coefficient;
    for (const AtomPtr& atom : t.monomial) product = product * replaced(*atom);
    sum = sum + product;
  }
  return sum;
}

namespace {
SymbolRange multiply_ranges(const SymbolRange& a, const SymbolRange& b) {
  const __int128 corners[] = {__int128(a.min) * b.min, __int128(a.min) * b.max, __int128(a.max) * b.min,
                              __int128(a.max) * b.max};
  return {saturate(*std::min_element(corners, corners + 4)),
          saturate(*std::max_element(corners, corners + 4)), 0};
}

SymbolRange range_of(const Atom& atom, const SymbolRanges& ranges) {
  if (atom.kind == AtomKind::kSymbol) return range_of(ranges, atom.name);
  const SymbolRange a = atom.a.bounds(ranges), b = atom.b.bounds(ranges);
  const SymbolRange everything{INT64_MIN, INT64_MAX, 0};
  switch (atom.kind) {
    case AtomKind::kMin:
      return {std::min(a.min, b.min), std::min(a.max, b.max), 0};
    case AtomKind::kMax:
      return {std::max(a.min, b.min), std::max(a.max, b.max), 0};
    case AtomKind::kMod:
      if (b.min <= 0) return everything;
      return {0, a.min >= 0 ? std::min(a.max, b.max - 1) : b.max - 1, 0};
    default:
      break;
  }
  if (b.max <= 0 || b.min < 0) return everything;
  const int64_t low = std::max<int64_t>(b.min, 1);  // a divisor of 0 has no value at all
  const auto quotient = [](int64_t x, int64_t y) { return *floor_div(x, y); };
  return {std::min(quotient(a.min, low), quotient(a.min, b.max)),
          std::max(quotient(a.max, low), quotient(a.max, b.max)), 0};
}
}  // namespace

SymbolRange range_of(const SymbolRanges& ranges, const std::string& name) {
  const auto at = ranges.find(name);
  return at == ranges.end() ? SymbolRange{} : at->second;
}

SymbolRange Dim::bounds(const SymbolRanges& ranges) const {
  if (is_static()) return {constant_, constant_, constant_};
  if (poly_->overflow) return {INT64_MIN, INT64_MAX, 0};
  __int128 low = 0, high = 0;
  for (const Term& t : poly_->terms) {
    SymbolRange product{t.coefficient, t.coefficient, 0};
    for (const AtomPtr& atom : t.monomial) product = multiply_ranges(product, range_of(*atom, ranges));
    // An end that is already saturated stays there whatever is added to it.
    low = low == INT64_MIN || product.min == INT64_MIN ? __int128(INT64_MIN)
                                                       : __int128(saturate(low + product.min));
    high = high == INT64_MAX || product.max == INT64_MAX ? __int128(INT64_MAX)
                                                         : __int128(saturate(high + product.max));
  }
  std::map<std::string, int64_t> at_opt;
  for (const std::string& name : symbols()) at_opt[name] = range_of(ranges, name).opt;
  const auto opt = evaluate(at_opt);
  return {saturate(low), saturate(high), opt.value_or(saturate(low))};
}

std::string Dim::range_text(const SymbolRanges& ranges) const {
  const auto ends = [](const SymbolRange& range) { return ge::range_text(range.min, range.max); };
  std::string text = ends(bounds(ranges));
  bool first = true;
  for (const std::string& name : symbols()) {
    text += (first ? " with " : ", ") + visible_line(name) + " " + ends(range_of(ranges, name));
    first = false;
  }
  return text;
}

int64_t Dim::known_divisor() const {
  if (is_static()) return constant_ == INT64_MIN ? 1 : std::abs(constant_);
  int64_t g = 0;
  for (const Term& t : poly_->terms) {
    int64_t term = std::abs(t.coefficient);
    for (const AtomPtr& atom : t.monomial) {
      if (atom->kind == AtomKind::kSymbol || atom->kind == AtomKind::kFloorDiv) continue;
      const int64_t factor = std::gcd(atom->a.known_divisor(), atom->b.known_divisor());
      if (const MaybeInt both = checked_mul(term, factor)) term = *both;
    }
    g = std::gcd(g, term);
  }
  return poly_->overflow ? 1 : g;
}

bool Dim::divisible_by(int64_t k) const {
  return k != 0 && !overflowed() && known_divisor() % k == 0;
}

bool Dim::never_equal(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.overflowed()) return false;
  if (difference.is_static()) return !difference.is_value(0);
  int64_t constant = 0;
  std::vector<Term> rest;
  for (const Term& t : difference.poly_->terms) {
    if (t.monomial.empty()) {
      constant = t.coefficient;
    } else {
      rest.push_back(t);
    }
  }
  const int64_t g = Poly::make(std::move(rest)).known_divisor();
  return g > 1 && constant % g != 0;
}

std::vector<ExprToken> Dim::tokens(const std::map<std::string, uint32_t>& symbol_index) const {
  if (is_static()) return {{ExprOp::kConstant, constant_}};
  std::vector<ExprToken> out;
  const auto append = [&](const Dim& d) {
    const auto inner = d.tokens(symbol_index);
    out.insert(out.end(), inner.begin(), inner.end());
  };
  bool first_term = true;
  for (const Term& t : poly_->terms) {
    const bool subtract = !first_term && t.coefficient < 0;
    const int64_t c = subtract ? -t.coefficient : t.coefficient;
    bool first_factor = true;
    if (c != 1 || t.monomial.empty()) {
      out.push_back({ExprOp::kConstant, c});
      first_factor = false;
    }
    for (const AtomPtr& atom : t.monomial) {
      if (atom->kind == AtomKind::kSymbol) {
        const auto it = symbol_index.find(atom->name);
        out.push_back({ExprOp::kSymbol, it == symbol_index.end() ? -1 : static_cast<int64_t>(it->second)});
      } else {
        append(atom->a);
        append(atom->b);
        constexpr ExprOp kOps[] = {ExprOp::kSymbol, ExprOp::kFloorDiv, ExprOp::kMod, ExprOp::kMin,
                                   ExprOp::kMax};
        out.push_back({kOps[static_cast<int>(atom->kind)], 0});
      }
      if (!first_factor) out.push_back({ExprOp::kMul, 0});
      first_factor = false;
    }
    if (!first_term) out.push_back({subtract ? ExprOp::kSub : ExprOp::kAdd, 0});
    first_term = false;
  }
  return out;
}

}  // namespace ge
