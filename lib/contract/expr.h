// Size expressions: postfix programs over checked int64, kept in one shared table per program.
// Entry: ExprTable::add, ExprTable::evaluate. Invariant: every stored expression leaves exactly one value on
// the stack.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace ge {

using ExprId = uint32_t;
inline constexpr ExprId kNoExpr = 0xffffffffu;

enum class ExprOp : uint8_t { kConstant, kSymbol, kAdd, kSub, kMul, kFloorDiv, kMod, kMin, kMax };

struct ExprToken {
  ExprOp op = ExprOp::kConstant;
  int64_t value = 0;  // kConstant: the number; kSymbol: index into Program::symbols; else 0
  bool operator==(const ExprToken&) const = default;
};

// Stack depth an expression may need; checked at load.
inline constexpr int kMaxExprDepth = 64;
inline constexpr size_t kMaxExprTokens = 1024;  // of one expression

class ExprTable {
 public:
  // Adds an expression (equal ones share an id). The tokens must be well formed (see check()).
  ExprId add(std::span<const ExprToken> tokens);
  ExprId constant(int64_t value);
  size_t size() const { return ends_.size(); }
  std::span<const ExprToken> tokens(ExprId id) const;
  bool is_constant(ExprId id) const;
  bool uses_symbols(ExprId id) const;
  std::vector<size_t> symbols(ExprId id) const;  // indices into Program::symbols, rising, each once
  // Well-formedness of one token list: stack discipline, depth, symbol indices below `symbol_count`.
  static Status check(std::span<const ExprToken> tokens, size_t symbol_count);
  // Value under `symbols`; plan_malformed on overflow or division by zero. Stack is on the C++ stack: no
  // allocation.
  Result<int64_t> evaluate(ExprId id, std::span<const int64_t> symbols) const;
  // Infix text, "batch*16+1"; symbols print by the names given.
  std::string to_string(ExprId id, std::span<const std::string> symbol_names) const;

 private:
  std::vector<ExprToken> tokens_;
  std::vector<uint32_t> ends_;                       // ends_[id] = one past the id's last token
  std::vector<std::pair<uint64_t, ExprId>> lookup_;  // hash -> id, open table; see expr.cpp
};

// lhs REL rhs over expressions; used by choice guards and program assertions.
enum class Relation : uint8_t { kEqual, kNotEqual, kLess, kLessEqual };
struct Predicate {
  ExprId lhs = kNoExpr;
  Relation relation = Relation::kEqual;
  ExprId rhs = kNoExpr;
};

}  // namespace ge
