// Checks every expression index of a record by the field visitor, so that no field can be forgotten.
// Entry: check_expr_indices, uses_symbols.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "contract/plan_fields.h"

namespace ge {

// Calls `see(ExprId)` for every expression below a record.
template <class See>
class ExprVisitor {
 public:
  explicit ExprVisitor(See see) : see_(std::move(see)) {}
  template <class T>
  void operator()(std::string_view, const T& field, const char*) {
    walk(field);
  }
  void index(std::string_view, uint32_t, const char*) {}
  void expr(std::string_view, ExprId field, const char*) { see_(field); }
  template <class List>
  void exprs(std::string_view, const List& fields, const char*) {
    for (const ExprId id : fields) see_(id);
  }
  void expr_table(std::string_view, const ExprTable&, const char*) {}
  template <class T>
  void alternative(std::string_view, StepKind, StepKind, const std::vector<T>& field, const char*) {
    walk(field);
  }

  template <class T>
  void walk(const T& x) {
    if constexpr (requires { visit_fields(*this, x); }) visit_fields(*this, x);
  }
  template <class T>
  void walk(const std::vector<T>& list) {
    if constexpr (std::is_class_v<T>) {
      for (const T& item : list) walk(item);
    }
  }

 private:
  See see_;
};

template <class Record>
bool uses_symbols(const Record& record, const ExprTable& exprs) {
  bool found = false;
  ExprVisitor visitor([&](ExprId id) { found |= id != kNoExpr && exprs.uses_symbols(id); });
  visitor.walk(record);
  return found;
}

inline Status check_expr_indices(const Program& program, const std::string& path) {
  bool fits = true;
  ExprVisitor visitor([&](ExprId id) { fits &= id == kNoExpr || id < program.exprs.size(); });
  visitor.walk(program);
  if (fits) return {};
  return fail(Code::plan_malformed).in(path).because("a record names an expression that does not exist");
}

}  // namespace ge
