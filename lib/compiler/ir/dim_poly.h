// The inside of Dim: polynomials over atoms. Only dim*.cpp include this.
// Invariant of Poly: terms sorted by monomial, no zero coefficient, at least one monomial that is not empty
// (else the Dim is static), at most kMaxTerms terms; or `overflow` alone.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/dim.h"

namespace ge {

// Past these a dim is no size that anybody means: it becomes an overflow dim. The depth keeps postfix
// programs under the contract's stack (at most 3 entries a level); the size keeps dims that share parts from
// growing as trees.
inline constexpr size_t kMaxTerms = 256;
inline constexpr int kMaxAtomDepth = 20;
inline constexpr int64_t kMaxAtoms = 4096;

enum class AtomKind : uint8_t { kSymbol, kFloorDiv, kMod, kMin, kMax };
struct Atom {
  AtomKind kind = AtomKind::kSymbol;
  std::string name;  // kSymbol
  Dim a, b;          // the others
};
using AtomPtr = std::shared_ptr<const Atom>;
using Monomial = std::vector<AtomPtr>;  // sorted; a power is a repetition; empty: the constant term

struct Dim::Poly {
  struct Term {
    Monomial monomial;
    int64_t coefficient = 0;
  };
  std::vector<Term> terms;
  bool overflow = false;
  int depth = 0;      // of nested atoms
  int64_t atoms = 0;  // counted as a tree

  static Dim make(std::vector<Term> terms);  // sorts, merges, drops zeros
  static Dim overflowed();
  static Dim of_atom(AtomKind kind, const Dim& a, const Dim& b);
  static std::vector<Term> terms_of(const Dim& dim);  // of a static dim too
};

std::strong_ordering compare_atoms(const Atom& a, const Atom& b);
std::strong_ordering compare_monomials(const Monomial& a, const Monomial& b);

}  // namespace ge
