// Expressions of a program under one set of dims, each computed once. Entry: BoundValues.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

  // size_overflow where it overflows or divides by zero; the text names the expression, the dims in it and
  // their ranges: "batch-100 is -99 with batch = 1 (allowed 1 .. 8)". Whose size it is, the caller adds.
  Result<int64_t> get(ExprId id);
  // As get, and at least 0: symbol_range where dims made it negative, plan_malformed where there are none.
  Result<int64_t> get_size(ExprId id);
  Result<bool> holds(const Predicate& predicate);
  std::string text(ExprId id) const;
  std::string text(const Predicate& predicate) const;
  std::string failure_text(const Predicate& predicate);  // of one that does not hold, in numbers
  std::string symbols_text() const;                      // "batch = 3, sequence = 17"
  std::string used_symbols_text(ExprId id) const;        // " with batch = 3 (allowed 1 .. 64)"

 private:
  std::optional<std::pair<std::string, std::string>> at_least(const Predicate& predicate) const;
  std::vector<std::string> names() const;
  const Program& program_;
  std::span<const int64_t> symbols_;
  std::vector<int64_t> values_;
  std::vector<bool> known_;
};

}  // namespace ge
