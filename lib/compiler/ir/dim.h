// Dim: a size as an expression over named symbols, in polynomial normal form, so that equal sizes compare
// equal. Entry: Dim. Invariant: the normal form is canonical for + - * with integer coefficients; floordiv,
// mod, min and max are opaque atoms over normalised operands, simplified where that is exact (x // 1, (4*n)
// // 4, n % 1, min(n, n), ...).
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "contract/expr.h"

namespace ge {

// Known bounds of the symbols, inclusive; a symbol not listed is 0 .. INT64_MAX.
struct SymbolRange {
  int64_t min = 0, max = INT64_MAX, opt = 1;
};
using SymbolRanges = std::map<std::string, SymbolRange>;
SymbolRange range_of(const SymbolRanges& ranges, const std::string& name);

class Dim {
 public:
  Dim() = default;                          // 0
  Dim(int64_t value) : constant_(value) {}  // NOLINT: integers are dims
  static Dim symbol(std::string name);
  // "batch*2 + 1", "(seq + 3) // 4", "min(a, b)"; bad_dim where it does not parse. "/" must divide exactly
  // (floor otherwise).
  static Result<Dim> parse(std::string_view text);

  bool is_static() const { return poly_ == nullptr; }
  std::optional<int64_t> value() const;  // set where static
  bool is_value(int64_t v) const { return is_static() && constant_ == v; }
  bool operator==(const Dim& other) const;
  std::strong_ordering operator<=>(
      const Dim& other) const;               // a total order on normal forms, for maps; not numeric
  std::string to_string() const;             // parse(to_string()) == *this
  std::vector<std::string> symbols() const;  // sorted, unique

  // Exact arithmetic; overflow of a coefficient gives an "overflow" dim for which overflowed() holds.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  static Dim floor_div(const Dim& a, const Dim& b);
  static Dim ceil_div(const Dim& a, const Dim& b);
  static Dim mod(const Dim& a, const Dim& b);
  static Dim min(const Dim& a, const Dim& b);
  static Dim max(const Dim& a, const Dim& b);
  bool overflowed() const;

  // Value under symbol values; nullopt on overflow, division by zero or an unknown symbol.
  std::optional<int64_t> evaluate(const std::map<std::string, int64_t>& symbols) const;
  // Replaces symbols by dims.
  Dim substitute(const std::map<std::string, Dim>& symbols) const;
  // Conservative bounds under the ranges (saturating at int64's ends).
  SymbolRange bounds(const SymbolRanges& ranges) const;
  // Those bounds and the ranges they follow from, for messages: "-99 .. -92 with batch 1 .. 8".
  std::string range_text(const SymbolRanges& ranges) const;
  // True where it provably holds for every value in the ranges: a multiple of `k`.
  bool divisible_by(int64_t k) const;
  // Postfix tokens for the plan; `symbol_index` gives each symbol's index in Program::symbols.
  std::vector<ExprToken> tokens(const std::map<std::string, uint32_t>& symbol_index) const;

  // Where `b * q == a` holds as polynomials, that q (so (4*n*m) / n is 4*m, also where n may be 0); else
  // nullopt.
  static std::optional<Dim> exact_quotient(const Dim& a, const Dim& b);
  // True where no values of the symbols make the two equal (conservative: false where it is not known).
  static bool never_equal(const Dim& a, const Dim& b);
  // The largest k that provably divides every value; 0 for the dim 0.
  int64_t known_divisor() const;

  struct Poly;  // dim_poly.h; for dim*.cpp alone
  const Poly* poly() const { return poly_.get(); }

 private:
  int64_t constant_ = 0;  // the value where poly_ is null
  std::shared_ptr<const Poly> poly_;
};

using Dims = std::vector<Dim>;
Dim product(const Dims& dims, size_t from = 0, size_t to = SIZE_MAX);  // of dims [from, to)
// Whether the bits of a tensor are past int64, as all that runs a plan counts them: a dim of 0 counts as 1,
// since strides are made of the others.
bool size_overflows(const Dims& dims, int64_t element_bits = 64);
std::string to_string(const Dims& dims);                              // "[batch, 16]"
std::optional<std::vector<int64_t>> static_values(const Dims& dims);  // nullopt where one is symbolic

}  // namespace ge
