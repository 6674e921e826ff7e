// Memoised evaluation of a program's expressions, and how they print in errors.
#include "contract/bind_values.h"

#include "contract/plan_names.h"

namespace ge {

Result<int64_t> BoundValues::get(ExprId id) {
  if (id >= known_.size())
    return fail(Code::plan_malformed).because("a record names an expression that does not exist");
  if (known_[id]) return values_[id];
  const auto value = program_.exprs.evaluate(id, symbols_);
  if (!value.ok()) {
    const std::string dims = symbols_text();
    return fail(Code::size_overflow)
        .because(text(id) + " overflows 64 bits or divides by zero" + (dims.empty() ? "" : " with " + dims));
  }
  values_[id] = *value;
  known_[id] = true;
  return *value;
}

Result<int64_t> BoundValues::get_size(ExprId id) {
  GE_ASSIGN(const int64_t value, get(id));
  if (value < 0) {
    // With dims it is whoever chose them that can help it; "h - 2" is a sound size for most h.
    const std::string dims = symbols_text();
    return fail(dims.empty() ? Code::plan_malformed : Code::symbol_range)
        .because("the size " + text(id) + " is negative: " + std::to_string(value) +
                 (dims.empty() ? "" : " with " + dims));
  }
  return value;
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
  for (const Symbol& s : program_.symbols) names.push_back(s.name);
  return names;
}
std::string BoundValues::text(ExprId id) const {
  return program_.exprs.to_string(id, names());
}
std::string BoundValues::text(const Predicate& p) const {
  return text(p.lhs) + " " + std::string(name_in_plan(p.relation)) + " " + text(p.rhs);
}
std::string BoundValues::symbols_text() const {
  std::string text;
  for (size_t i = 0; i < symbols_.size() && i < program_.symbols.size(); ++i) {
    text += (text.empty() ? "" : ", ") + program_.symbols[i].name + " = " + std::to_string(symbols_[i]);
  }
  return text;
}

}  // namespace ge
