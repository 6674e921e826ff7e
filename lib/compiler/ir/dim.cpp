// The polynomial normal form of sizes: arithmetic, order, evaluation, bounds. Text is in dim_text.cpp.
#include "compiler/ir/dim.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/checked_math.h"
#include "compiler/ir/dim_poly.h"

namespace ge {

namespace {
using Term = Dim::Poly::Term;

int64_t saturate(__int128 v) {
  if (v > INT64_MAX) return INT64_MAX;
  if (v < INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(v);
}

int64_t magnitude_gcd(int64_t a, int64_t b) {
  // INT64_MIN has no magnitude in int64; 1 is always a sound divisor.
  if (a == INT64_MIN || b == INT64_MIN) return 1;
  return std::gcd(a, b);
}

struct Split {  // a dim as quotient * k + remainder
  Dim quotient, remainder;
};

// Every term whose coefficient k divides goes to the quotient; the constant leaves its remainder in [0, k). k > 0.
Split split_by(const Dim& a, int64_t k) {
  std::vector<Term> quotient, remainder;
  for (const Term& t : Dim::Poly::terms_of(a)) {
    if (t.coefficient % k == 0) {
      quotient.push_back({t.monomial, t.coefficient / k});
    } else if (t.monomial.empty()) {
      quotient.push_back({{}, *floor_div(t.coefficient, k)});
      remainder.push_back({{}, *floor_mod(t.coefficient, k)});
    } else {
      remainder.push_back(t);
    }
  }
  return {Dim::Poly::make(std::move(quotient)), Dim::Poly::make(std::move(remainder))};
}

Dim divide_coefficients(const Dim& a, int64_t g) {  // floors the constant term; g > 0 divides the others
  std::vector<Term> terms = Dim::Poly::terms_of(a);
  for (Term& t : terms) t.coefficient = *floor_div(t.coefficient, g);
  return Dim::Poly::make(std::move(terms));
}

int64_t gcd_of_coefficients(const Dim& a, bool with_constant) {
  int64_t g = 0;
  for (const Term& t : Dim::Poly::terms_of(a))
    if (with_constant || !t.monomial.empty()) g = magnitude_gcd(g, t.coefficient);
  return g;
}

// Where `a` is (x // k) + c with static k > 0: x + k*c and k.
std::optional<std::pair<Dim, int64_t>> as_floor_div_plus_constant(const Dim& a) {
  const std::vector<Term> terms = Dim::Poly::terms_of(a);
  int64_t constant = 0;
  const Atom* atom = nullptr;
  for (const Term& t : terms) {
    if (t.monomial.empty()) {
      constant = t.coefficient;
    } else if (atom == nullptr && t.monomial.size() == 1 && t.coefficient == 1) {
      atom = t.monomial[0].get();
    } else {
      return std::nullopt;
    }
  }
  if (atom == nullptr || atom->kind != AtomKind::kFloorDiv || !atom->b.is_static()) return std::nullopt;
  const int64_t k = *atom->b.value();
  if (k <= 0) return std::nullopt;
  return std::pair(atom->a + Dim(k) * Dim(constant), k);
}

Dim floor_div_by_constant(const Dim& a, int64_t k) {
  if (k == 0 || k == INT64_MIN) return Dim::Poly::overflowed();
  if (k < 0) return floor_div_by_constant(Dim(0) - a, -k);
  if (k == 1) return a;
  const Split split = split_by(a, k);
  const Dim& r = split.remainder;
  if (r.is_static()) return split.quotient;  // the constant left is in [0, k)
  const int64_t g = magnitude_gcd(gcd_of_coefficients(r, false), k);
  if (g > 1) return split.quotient + floor_div_by_constant(divide_coefficients(r, g), k / g);
  if (const auto inner = as_floor_div_plus_constant(r)) {
    if (const MaybeInt both = checked_mul(inner->second, k)) {
      return split.quotient + floor_div_by_constant(inner->first, *both);
    }
  }
  return split.quotient + Dim::Poly::of_atom(AtomKind::kFloorDiv, r, k);
}

Dim mod_by_constant(const Dim& a, int64_t k) {
  if (k == 0 || k == INT64_MIN) return Dim::Poly::overflowed();
  if (k == 1 || k == -1) return 0;
  if (k < 0) return Dim(0) - mod_by_constant(Dim(0) - a, -k);
  std::vector<Term> reduced = Dim::Poly::terms_of(a);
  for (Term& t : reduced) t.coefficient = *floor_mod(t.coefficient, k);
  const Dim r = Dim::Poly::make(std::move(reduced));
  if (r.is_static() || r.overflowed()) return r;
  const int64_t g = magnitude_gcd(gcd_of_coefficients(r, true), k);
  if (g > 1) return Dim(g) * mod_by_constant(divide_coefficients(r, g), k / g);
  const auto& terms = r.poly()->terms;
  if (terms.size() == 1 && terms[0].monomial.size() == 1 && terms[0].coefficient == 1) {
    const Atom& atom = *terms[0].monomial[0];
    if (atom.kind == AtomKind::kMod && atom.b.is_value(k)) return r;
  }
  return Dim::Poly::of_atom(AtomKind::kMod, r, k);
}

void flatten(AtomKind kind, const Dim& a, std::vector<Dim>& out) {
  if (a.poly() != nullptr && a.poly()->terms.size() == 1) {
    const Term& t = a.poly()->terms[0];
    if (t.coefficient == 1 && t.monomial.size() == 1 && t.monomial[0]->kind == kind) {
      flatten(kind, t.monomial[0]->a, out);
      flatten(kind, t.monomial[0]->b, out);
      return;
    }
  }
  out.push_back(a);
}

// min and max are sets of operands: flattened, without those that another one beats by a known constant, in order.
Dim extremum(AtomKind kind, const Dim& a, const Dim& b) {
  if (a.overflowed() || b.overflowed()) return Dim::Poly::overflowed();
  std::vector<Dim> all, kept;
  flatten(kind, a, all);
  flatten(kind, b, all);
  if (all.size() > kMaxTerms) return Dim::Poly::overflowed();
  std::sort(all.begin(), all.end());
  for (const Dim& candidate : all) {
    bool beaten = false;
    for (Dim& other : kept) {
      const auto difference = (candidate - other).value();
      if (!difference) continue;
      if ((kind == AtomKind::kMin) == (*difference < 0)) other = candidate;
      beaten = true;
      break;
    }
    if (!beaten) kept.push_back(candidate);
  }
  std::sort(kept.begin(), kept.end());
  Dim result = kept[0];
  for (size_t i = 1; i < kept.size(); ++i) result = Dim::Poly::of_atom(kind, result, kept[i]);
  return result;
}

// m / d as multisets of atoms; nullopt where d has an atom that m lacks.
std::optional<Monomial> divide_monomials(const Monomial& m, const Monomial& d) {
  Monomial rest;
  size_t j = 0;
  for (const AtomPtr& atom : m) {
    if (j < d.size() && compare_atoms(*atom, *d[j]) == 0) {
      ++j;
    } else {
      rest.push_back(atom);
    }
  }
  if (j != d.size()) return std::nullopt;
  return rest;
}
}  // namespace

std::strong_ordering compare_atoms(const Atom& a, const Atom& b) {
  if (&a == &b) return std::strong_ordering::equal;
  if (a.kind != b.kind) return a.kind <=> b.kind;
  if (a.kind == AtomKind::kSymbol) return a.name.compare(b.name) <=> 0;
  if (const auto c = a.a <=> b.a; c != 0) return c;
  return a.b <=> b.b;
}

// Higher degree first, the constant last: the order in which a person writes a polynomial.
std::strong_ordering compare_monomials(const Monomial& a, const Monomial& b) {
  if (a.size() != b.size()) return b.size() <=> a.size();
  for (size_t i = 0; i < a.size(); ++i)
    if (const auto c = compare_atoms(*a[i], *b[i]); c != 0) return c;
  return std::strong_ordering::equal;
}

Dim Dim::Poly::overflowed() {
  auto poly = std::make_shared<Poly>();
  poly->overflow = true;
  Dim dim;
  dim.poly_ = std::move(poly);
  return dim;
}

Dim Dim::Poly::make(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& x, const Term& y) { return compare_monomials(x.monomial, y.monomial) < 0; });
  std::vector<Term> merged;
  for (Term& t : terms) {
    if (!merged.empty() && compare_monomials(merged.back().monomial, t.monomial) == 0) {
      const MaybeInt sum = checked_add(merged.back().coefficient, t.coefficient);
      if (!sum) return overflowed();
      merged.back().coefficient = *sum;
    } else {
      merged.push_back(std::move(t));
    }
  }
  std::erase_if(merged, [](const Term& t) { return t.coefficient == 0; });
  const bool is_constant = merged.size() == 1 && merged[0].monomial.empty();
  // INT64_MIN has no magnitude: keeping it out of polynomials lets everything below negate freely.
  for (const Term& t : merged)
    if (t.coefficient == INT64_MIN && !is_constant) return overflowed();
  if (merged.empty()) return 0;
  if (is_constant) return merged[0].coefficient;
  if (merged.size() > kMaxTerms) return overflowed();
  auto poly = std::make_shared<Poly>();
  for (const Term& t : merged) {
    for (const AtomPtr& atom : t.monomial) {
      poly->atoms += 1;
      for (const Dim* inner : {&atom->a, &atom->b}) {
        if (inner->poly_ == nullptr) continue;
        poly->depth = std::max(poly->depth, inner->poly_->depth + 1);
        poly->atoms += inner->poly_->atoms;
      }
    }
  }
  if (poly->depth > kMaxAtomDepth || poly->atoms > kMaxAtoms) return overflowed();
  poly->terms = std::move(merged);
  Dim dim;
  dim.poly_ = std::move(poly);
  return dim;
}

Dim Dim::Poly::of_atom(AtomKind kind, const Dim& a, const Dim& b) {
  auto atom = std::make_shared<Atom>();
  atom->kind = kind;
  atom->a = a;
  atom->b = b;
  return make({{{std::move(atom)}, 1}});
}

std::vector<Term> Dim::Poly::terms_of(const Dim& dim) {
  if (dim.poly_ != nullptr) return dim.poly_->terms;
  if (dim.constant_ == 0) return {};
  return {{{}, dim.constant_}};
}

Dim Dim::symbol(std::string name) {
  auto atom = std::make_shared<Atom>();
  atom->name = std::move(name);
  return Poly::make({{{std::move(atom)}, 1}});
}

std::optional<int64_t> Dim::value() const {
  if (!is_static()) return std::nullopt;
  return constant_;
}

bool Dim::overflowed() const { return poly_ != nullptr && poly_->overflow; }

bool Dim::operator==(const Dim& other) const {
  if (poly_ == other.poly_) return poly_ != nullptr || constant_ == other.constant_;
  return (*this <=> other) == 0;
}

std::strong_ordering Dim::operator<=>(const Dim& other) const {
  if (poly_ == nullptr || other.poly_ == nullptr) {
    if (poly_ == nullptr && other.poly_ == nullptr) return constant_ <=> other.constant_;
    return poly_ == nullptr ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  if (poly_ == other.poly_) return std::strong_ordering::equal;
  if (poly_->overflow != other.poly_->overflow) return poly_->overflow <=> other.poly_->overflow;
  const auto& x = poly_->terms;
  const auto& y = other.poly_->terms;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (const auto c = compare_monomials(x[i].monomial, y[i].monomial); c != 0) return c;
    if (x[i].coefficient != y[i].coefficient) return x[i].coefficient <=> y[i].coefficient;
  }
  return x.size() <=> y.size();
}

std::vector<std::string> Dim::symbols() const {
  std::set<std::string> names;
  const std::function<void(const Dim&)> visit = [&](const Dim& d) {
    if (d.poly_ == nullptr) return;
    for (const Poly::Term& t : d.poly_->terms)
      for (const AtomPtr& atom : t.monomial) {
        if (atom->kind == AtomKind::kSymbol) names.insert(atom->name);
        visit(atom->a);
        visit(atom->b);
      }
  };
  visit(*this);
  return {names.begin(), names.end()};
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    const MaybeInt sum = checked_add(a.constant_, b.constant_);
    return sum ? Dim(*sum) : Dim::Poly::overflowed();
  }
  if (a.overflowed() || b.overflowed()) return Dim::Poly::overflowed();
  if (a.is_value(0)) return b;
  if (b.is_value(0)) return a;
  std::vector<Dim::Poly::Term> terms = Dim::Poly::terms_of(a);
  for (auto& t : Dim::Poly::terms_of(b)) terms.push_back(std::move(t));
  return Dim::Poly::make(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    const MaybeInt difference = checked_sub(a.constant_, b.constant_);
    return difference ? Dim(*difference) : Dim::Poly::overflowed();
  }
  return a + Dim(-1) * b;
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    const MaybeInt product = checked_mul(a.constant_, b.constant_);
    return product ? Dim(*product) : Dim::Poly::overflowed();
  }
  if (a.overflowed() || b.overflowed()) return Dim::Poly::overflowed();
  if (a.is_value(1)) return b;
  if (b.is_value(1)) return a;
  const auto x = Dim::Poly::terms_of(a);
  const auto y = Dim::Poly::terms_of(b);
  if (x.size() * y.size() > kMaxTerms * 4) return Dim::Poly::overflowed();
  std::vector<Dim::Poly::Term> terms;
  for (const auto& s : x) {
    for (const auto& t : y) {
      const MaybeInt c = checked_mul(s.coefficient, t.coefficient);
      if (!c || s.monomial.size() + t.monomial.size() > kMaxTerms) return Dim::Poly::overflowed();
      Monomial m;
      std::merge(s.monomial.begin(), s.monomial.end(), t.monomial.begin(), t.monomial.end(), std::back_inserter(m),
                 [](const AtomPtr& p, const AtomPtr& q) { return compare_atoms(*p, *q) < 0; });
      terms.push_back({std::move(m), *c});
    }
  }
  return Dim::Poly::make(std::move(terms));
}

std::optional<Dim> Dim::exact_quotient(const Dim& a, const Dim& b) {
  if (a.overflowed() || b.overflowed() || b.is_value(0)) return std::nullopt;
  const auto divisor = Poly::terms_of(b);
  std::vector<Term> quotient;
  Dim rest = a;
  // Long division by the leading term; each step removes the leading term of the rest or ends.
  while (!rest.is_value(0)) {
    const auto terms = Poly::terms_of(rest);
    if (terms.empty() || quotient.size() > kMaxTerms) return std::nullopt;
    const auto monomial = divide_monomials(terms[0].monomial, divisor[0].monomial);
    const MaybeInt c = ge::floor_div(terms[0].coefficient, divisor[0].coefficient);
    if (!monomial || !c || terms[0].coefficient % divisor[0].coefficient != 0) return std::nullopt;
    Term step{*monomial, *c};
    rest = rest - Poly::make({step}) * b;
    if (rest.overflowed()) return std::nullopt;
    quotient.push_back(std::move(step));
  }
  return Poly::make(std::move(quotient));
}

Dim Dim::floor_div(const Dim& a, const Dim& b) {
  if (a.overflowed() || b.overflowed()) return Poly::overflowed();
  if (b.is_static()) {
    if (!a.is_static()) return floor_div_by_constant(a, b.constant_);
    const MaybeInt q = ge::floor_div(a.constant_, b.constant_);
    return q ? Dim(*q) : Poly::overflowed();
  }
  if (const auto q = exact_quotient(a, b)) return *q;
  return Poly::of_atom(AtomKind::kFloorDiv, a, b);
}

Dim Dim::ceil_div(const Dim& a, const Dim& b) {
  if (const auto k = b.value(); k && *k > 0) return floor_div(a + (*k - 1), b);  // the form that floors meet
  return Dim(0) - floor_div(Dim(0) - a, b);
}

Dim Dim::mod(const Dim& a, const Dim& b) {
  if (a.overflowed() || b.overflowed()) return Poly::overflowed();
  if (b.is_static()) {
    if (!a.is_static()) return mod_by_constant(a, b.constant_);
    const MaybeInt r = floor_mod(a.constant_, b.constant_);
    return r ? Dim(*r) : Poly::overflowed();
  }
  if (exact_quotient(a, b)) return 0;
  return Poly::of_atom(AtomKind::kMod, a, b);
}

Dim Dim::min(const Dim& a, const Dim& b) { return extremum(AtomKind::kMin, a, b); }
Dim Dim::max(const Dim& a, const Dim& b) { return extremum(AtomKind::kMax, a, b); }

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
      case AtomKind::kFloorDiv: return ge::floor_div(*a, *b);
      case AtomKind::kMod: return floor_mod(*a, *b);
      case AtomKind::kMin: return std::min(*a, *b);
      default: return std::max(*a, *b);
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
      case AtomKind::kFloorDiv: return floor_div(a, b);
      case AtomKind::kMod: return mod(a, b);
      case AtomKind::kMin: return min(a, b);
      default: return max(a, b);
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
  const __int128 corners[] = {__int128(a.min) * b.min, __int128(a.min) * b.max, __int128(a.max) * b.min, __int128(a.max) * b.max};
  return {saturate(*std::min_element(corners, corners + 4)), saturate(*std::max_element(corners, corners + 4)), 0};
}

SymbolRange range_of(const Atom& atom, const SymbolRanges& ranges) {
  if (atom.kind == AtomKind::kSymbol) {
    const auto it = ranges.find(atom.name);
    return it == ranges.end() ? SymbolRange{} : it->second;
  }
  const SymbolRange a = atom.a.bounds(ranges), b = atom.b.bounds(ranges);
  const SymbolRange everything{INT64_MIN, INT64_MAX, 0};
  switch (atom.kind) {
    case AtomKind::kMin: return {std::min(a.min, b.min), std::min(a.max, b.max), 0};
    case AtomKind::kMax: return {std::max(a.min, b.min), std::max(a.max, b.max), 0};
    case AtomKind::kMod:
      if (b.min <= 0) return everything;
      return {0, a.min >= 0 ? std::min(a.max, b.max - 1) : b.max - 1, 0};
    default: break;
  }
  if (b.max <= 0 || b.min < 0) return everything;
  const int64_t low = std::max<int64_t>(b.min, 1);  // a divisor of 0 has no value at all
  const auto quotient = [](int64_t x, int64_t y) { return *floor_div(x, y); };
  return {std::min(quotient(a.min, low), quotient(a.min, b.max)), std::max(quotient(a.max, low), quotient(a.max, b.max)), 0};
}
}  // namespace

SymbolRange Dim::bounds(const SymbolRanges& ranges) const {
  if (is_static()) return {constant_, constant_, constant_};
  if (poly_->overflow) return {INT64_MIN, INT64_MAX, 0};
  __int128 low = 0, high = 0;
  for (const Term& t : poly_->terms) {
    SymbolRange product{t.coefficient, t.coefficient, 0};
    for (const AtomPtr& atom : t.monomial) product = multiply_ranges(product, range_of(*atom, ranges));
    // An end that is already saturated stays there whatever is added to it.
    low = low == INT64_MIN || product.min == INT64_MIN ? __int128(INT64_MIN) : __int128(saturate(low + product.min));
    high = high == INT64_MAX || product.max == INT64_MAX ? __int128(INT64_MAX) : __int128(saturate(high + product.max));
  }
  std::map<std::string, int64_t> at_opt;
  for (const std::string& name : symbols()) {
    const auto it = ranges.find(name);
    at_opt[name] = it == ranges.end() ? SymbolRange{}.opt : it->second.opt;
  }
  const auto opt = evaluate(at_opt);
  return {saturate(low), saturate(high), opt.value_or(saturate(low))};
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

bool Dim::divisible_by(int64_t k) const { return k != 0 && !overflowed() && known_divisor() % k == 0; }

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
        constexpr ExprOp kOps[] = {ExprOp::kSymbol, ExprOp::kFloorDiv, ExprOp::kMod, ExprOp::kMin, ExprOp::kMax};
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

Dim product(const Dims& dims, size_t from, size_t to) {
  Dim result = 1;
  for (size_t i = from; i < std::min(to, dims.size()); ++i) result = result * dims[i];
  return result;
}

std::optional<std::vector<int64_t>> static_values(const Dims& dims) {
  std::vector<int64_t> values;
  values.reserve(dims.size());
  for (const Dim& d : dims) {
    if (!d.is_static()) return std::nullopt;
    values.push_back(*d.value());
  }
  return values;
}

}  // namespace ge
