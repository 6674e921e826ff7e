// Division, remainder, minimum and maximum of sizes, simplified where that is exact. Their results that do
// not simplify are atoms of the polynomial normal form.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "compiler/ir/dim_poly.h"

namespace ge {

namespace {
using Term = Dim::Poly::Term;

int64_t magnitude_gcd(int64_t a, int64_t b) {
  // INT64_MIN has no magnitude in int64; 1 is always a sound divisor.
  if (a == INT64_MIN || b == INT64_MIN) return 1;
  return std::gcd(a, b);
}

struct Split {  // a dim as quotient * k + remainder
  Dim quotient, remainder;
};

// Every term whose coefficient k divides goes to the quotient; the constant leaves its remainder in [0, k). k
// > 0.
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

// min and max are sets of operands: flattened, without those that another one beats by a known constant, in
// order.
Dim extremum(AtomKind kind, const Dim& a, const Dim& b) {
  if (a.overflowed() || b.overflowed()) return Dim::Poly::overflowed();
  if (a.is_static() && b.is_static())  // their difference may not be a number
    return (kind == AtomKind::kMin) == (*a.value() < *b.value()) ? a : b;
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
  const auto k = b.value();
  if (k && *k > 0 && a.is_static())  // their sum may not be a number
    return *a.value() / *k + (*a.value() % *k > 0 ? 1 : 0);
  if (k && *k > 0) return floor_div(a + (*k - 1), b);  // the form that floors meet
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

Dim Dim::min(const Dim& a, const Dim& b) {
  return extremum(AtomKind::kMin, a, b);
}
Dim Dim::max(const Dim& a, const Dim& b) {
  return extremum(AtomKind::kMax, a, b);
}

}  // namespace ge
