// The polynomial normal form of sizes: order, sums and products. Division is in dim_divide.cpp, evaluation
// and bounds in dim_values.cpp, text in dim_text.cpp.
#include "compiler/ir/dim.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/checked_math.h"
#include "compiler/ir/dim_poly.h"

namespace ge {

namespace {
using Term = Dim::Poly::Term;
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
  std::sort(terms.begin(), terms.end(),
            [](const Term& x, const Term& y) { return compare_monomials(x.monomial, y.monomial) < 0; });
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

bool Dim::overflowed() const {
  return poly_ != nullptr && poly_->overflow;
}

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
      std::merge(s.monomial.begin(), s.monomial.end(), t.monomial.begin(), t.monomial.end(),
                 std::back_inserter(m),
                 [](const AtomPtr& p, const AtomPtr& q) { return compare_atoms(*p, *q) < 0; });
      terms.push_back({std::move(m), *c});
    }
  }
  return Dim::Poly::make(std::move(terms));
}

Dim product(const Dims& dims, size_t from, size_t to) {
  Dim result = 1;
  for (size_t i = from; i < std::min(to, dims.size()); ++i) result = result * dims[i];
  return result;
}

bool size_overflows(const Dims& dims, int64_t element_bits) {
  Dim size(element_bits);
  for (const Dim& d : dims) size = d.is_value(0) ? size : size * d;
  return size.overflowed();
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
