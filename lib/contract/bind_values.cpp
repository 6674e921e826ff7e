// Memoised evaluation of a program's expressions, and how they print in errors.
#include "contract/bind_values.h"

#include <algorithm>

#include "base/text.h"
#include "contract/plan_names.h"

namespace ge {

Result<int64_t> BoundValues::get(ExprId id) {
  if (id >= known_.size())
    return fail(Code::plan_malformed).because("a record names an expression that does not exist");
  if (known_[id]) return values_[id];
  const auto value = program_.exprs.evaluate(id, symbols_);
  if (!value.ok())
    return fail(Code::size_overflow)
        .because(text(id) + ": " + value.error().first().found + used_symbols_text(id))
        .try_("choose other dims");
  values_[id] = *value;
  known_[id] = true;
  return *value;
}

Result<int64_t> BoundValues::get_size(ExprId id) {
  GE_ASSIGN(const int64_t value, get(id));
  if (value >= 0) return value;
  // With dims it is whoever chose them that can help it; "h - 2" is a sound size for most h.
  if (program_.exprs.uses_symbols(id))
    return fail(Code::symbol_range)
        .because(text(id) + " is " + std::to_string(value) + used_symbols_text(id) + "; sizes are 0 and up")
        .try_("choose other dims");
  return fail(Code::plan_malformed).because("a size is " + std::to_string(value));
}

Result<bool> BoundValues::holds(const Predicate& predicate) {
  GE_ASSIGN(const int64_t lhs, get(predicate.lhs));
  GE_ASSIGN(const int64_t rhs, get(predicate.rhs));
  switch (predicate.relation) {
    case Relation::kEqual:
      return lhs == rhs;
    case Relation::kNotEqual:
      return lhs != rhs;
    case Relation::kLess:
      return lhs < rhs;
    case Relation::kLessEqual:
      return lhs <= rhs;
  }
  return false;
}

std::vector<std::string> BoundValues::names() const {
  std::vector<std::string> names;
  for (const Symbol& s : program_.symbols) names.push_back(visible_line(s.name));
  return names;
}
std::string BoundValues::text(ExprId id) const {
  return program_.exprs.to_string(id, names());
}
std::string BoundValues::text(const Predicate& p) const {
  return text(p.lhs) + " " + std::string(name_in_plan(p.relation)) + " " + text(p.rhs);
}

// "max(a, b) == b" says that b is at least a: nullopt where the predicate is no such thing, else {b, a}.
std::optional<std::pair<std::string, std::string>> BoundValues::at_least(const Predicate& p) const {
  const auto whole = program_.exprs.tokens(p.lhs), dim = program_.exprs.tokens(p.rhs);
  if (p.relation != Relation::kEqual || whole.empty() || whole.back().op != ExprOp::kMax) return std::nullopt;
  // The last operand of max starts where its own tokens leave one value.
  size_t split = whole.size() - 1;
  for (int open = 1; open > 0 && split > 0;) {
    const ExprOp op = whole[--split].op;
    open += op == ExprOp::kConstant || op == ExprOp::kSymbol ? -1 : 1;
  }
  const auto first = whole.first(split), second = whole.subspan(split, whole.size() - 1 - split);
  const bool first_is_dim = std::ranges::equal(first, dim);
  if (!first_is_dim && !std::ranges::equal(second, dim)) return std::nullopt;
  ExprTable least;
  const ExprId id = least.add(first_is_dim ? second : first);
  return std::pair(text(p.rhs), least.to_string(id, names()));
}

std::string BoundValues::failure_text(const Predicate& p) {
  const auto lhs = get(p.lhs), rhs = get(p.rhs);
  const std::string dims = symbols_text(), with = dims.empty() ? "" : " with " + dims;
  if (!lhs.ok() || !rhs.ok()) return text(p) + " does not hold" + with;
  if (const auto bound = at_least(p))
    return bound->first + " is " + std::to_string(*rhs) + ", needed " + bound->second + " and up" +
           (program_.exprs.tokens(p.rhs).size() == 1 ? "" : with);
  return text(p) + " does not hold: found " + std::to_string(*lhs) + " and " + std::to_string(*rhs) + with;
}
std::string BoundValues::symbols_text() const {
  std::string text;
  for (size_t i = 0; i < symbols_.size() && i < program_.symbols.size(); ++i) {
    text += (text.empty() ? "" : ", ") + visible_line(program_.symbols[i].name) + " = " +
            std::to_string(symbols_[i]);
  }
  return text;
}
std::string BoundValues::used_symbols_text(ExprId id) const {
  std::string text;
  for (const size_t i : program_.exprs.symbols(id)) {
    if (i >= symbols_.size() || i >= program_.symbols.size()) continue;
    const Symbol& s = program_.symbols[i];
    text += (text.empty() ? " with " : ", ") + visible_line(s.name) + " = " + std::to_string(symbols_[i]) +
            " (allowed " + range_text(s.min, s.max) + ")";
  }
  return text;
}

}  // namespace ge
