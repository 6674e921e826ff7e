// Expressions of a program under one set of dims, each computed once. Entry: BoundValues.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "contract/plan.h"

namespace ge {

class BoundValues {
 public:
  BoundValues(const Program& program, std::span<const int64_t> symbols)
      : program_(program),
        symbols_(symbols),
        values_(program.exprs.size(), 0),
        known_(program.exprs.size(), false) {}

  // size_overflow where it overflows or divides by zero; the text names the expression and the dims.
  Result<int64_t> get(ExprId id);
  // As get, and at least 0.
  Result<int64_t> get_size(ExprId id);
  Result<bool> holds(const Predicate& predicate);
  std::string text(ExprId id) const;
  std::string text(const Predicate& predicate) const;
  std::string symbols_text() const;  // "batch = 3, sequence = 17"

 private:
  std::vector<std::string> names() const;
  const Program& program_;
  std::span<const int64_t> symbols_;
  std::vector<int64_t> values_;
  std::vector<bool> known_;
};

}  // namespace ge
