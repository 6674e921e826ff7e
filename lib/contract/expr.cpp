// ExprTable: one array of tokens, an end per expression, and an open-addressed index that makes equal ones
// share an id.
#include "contract/expr.h"

#include <algorithm>
#include <array>

#include "base/checked_math.h"

namespace ge {
namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 33);
}

uint64_t hash_of(std::span<const ExprToken> tokens) {
  uint64_t h = tokens.size();
  for (const ExprToken& t : tokens)
    h = mix(mix(h, static_cast<uint64_t>(t.op)), static_cast<uint64_t>(t.value));
  return h;
}

bool is_leaf(ExprOp op) {
  return op == ExprOp::kConstant || op == ExprOp::kSymbol;
}

MaybeInt apply(ExprOp op, int64_t a, int64_t b) {
  switch (op) {
    case ExprOp::kAdd:
      return checked_add(a, b);
    case ExprOp::kSub:
      return checked_sub(a, b);
    case ExprOp::kMul:
      return checked_mul(a, b);
    case ExprOp::kFloorDiv:
      return floor_div(a, b);
    case ExprOp::kMod:
      return floor_mod(a, b);
    case ExprOp::kMin:
      return std::min(a, b);
    case ExprOp::kMax:
      return std::max(a, b);
    case ExprOp::kConstant:
    case ExprOp::kSymbol:
      break;
  }
  return std::nullopt;
}

// How tightly an operator binds when printed; leaves and calls bind tightest.
int precedence(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
    case ExprOp::kSub:
      return 1;
    case ExprOp::kMul:
    case ExprOp::kFloorDiv:
    case ExprOp::kMod:
      return 2;
    default:
      return 3;
  }
}

std::string_view spelling(ExprOp op) {
  switch (op) {
    case ExprOp::kAdd:
      return "+";
    case ExprOp::kSub:
      return "-";
    case ExprOp::kMul:
      return "*";
    case ExprOp::kFloorDiv:
      return "//";
    case ExprOp::kMod:
      return "%";
    case ExprOp::kMin:
      return "min";
    case ExprOp::kMax:
      return "max";
    default:
      return "";
  }
}

struct Text {
  std::string text;
  int precedence = 3;
};

Text leaf_text(const ExprToken& token, std::span<const std::string> names) {
  if (token.op == ExprOp::kConstant) return {std::to_string(token.value), token.value < 0 ? 1 : 3};
  const auto index = static_cast<size_t>(token.value);
  return {index < names.size() ? names[index] : "s" + std::to_string(token.value), 3};
}

Text binary_text(ExprOp op, Text a, Text b) {
  const int own = precedence(op);
  if (own == 3) return {std::string(spelling(op)) + "(" + a.text + ", " + b.text + ")", 3};
  if (a.precedence < own) a.text = "(" + a.text + ")";
  if (b.precedence < own || (b.precedence == own && op != ExprOp::kAdd)) b.text = "(" + b.text + ")";
  return {a.text + std::string(spelling(op)) + b.text, own};
}

}  // namespace

ExprId ExprTable::add(std::span<const ExprToken> tokens) {
  if ((ends_.size() + 1) * 2 > lookup_.size()) {  // grow: at most half full
    std::vector<std::pair<uint64_t, ExprId>> larger(std::max<size_t>(16, lookup_.size() * 2), {0, kNoExpr});
    for (const auto& entry : lookup_) {
      if (entry.second == kNoExpr) continue;
      size_t at = entry.first & (larger.size() - 1);
      while (larger[at].second != kNoExpr) at = (at + 1) & (larger.size() - 1);
      larger[at] = entry;
    }
    lookup_ = std::move(larger);
  }
  const uint64_t hash = hash_of(tokens);
  size_t at = hash & (lookup_.size() - 1);
  for (; lookup_[at].second != kNoExpr; at = (at + 1) & (lookup_.size() - 1)) {
    if (lookup_[at].first == hash && std::ranges::equal(this->tokens(lookup_[at].second), tokens))
      return lookup_[at].second;
  }
  const auto id = static_cast<ExprId>(ends_.size());
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  ends_.push_back(static_cast<uint32_t>(tokens_.size()));
  lookup_[at] = {hash, id};
  return id;
}

ExprId ExprTable::constant(int64_t value) {
  const ExprToken token{ExprOp::kConstant, value};
  return add({&token, 1});
}

std::span<const ExprToken> ExprTable::tokens(ExprId id) const {
  const uint32_t begin = id == 0 ? 0 : ends_[id - 1];
  return std::span(tokens_).subspan(begin, ends_[id] - begin);
}

bool ExprTable::is_constant(ExprId id) const {
  const auto list = tokens(id);
  return list.size() == 1 && list[0].op == ExprOp::kConstant;
}

bool ExprTable::uses_symbols(ExprId id) const {
  return std::ranges::any_of(tokens(id), [](const ExprToken& t) { return t.op == ExprOp::kSymbol; });
}

std::vector<size_t> ExprTable::symbols(ExprId id) const {
  std::vector<size_t> used;
  for (const ExprToken& t : tokens(id))
    if (t.op == ExprOp::kSymbol) used.push_back(static_cast<size_t>(t.value));
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());  // clang 14 does not take ranges::unique
  return used;
}

Status ExprTable::check(std::span<const ExprToken> tokens, size_t symbol_count) {
  const auto refuse = [](const char* why) {
    return fail(Code::plan_malformed).say("expression is malformed").because(why);
  };
  if (tokens.empty() || tokens.size() > kMaxExprTokens) return refuse("it has no tokens, or more than 1024");
  int depth = 0;
  for (const ExprToken& token : tokens) {
    if (token.op > ExprOp::kMax) return refuse("unknown operator");
    if (token.op == ExprOp::kSymbol &&
        (token.value < 0 || static_cast<uint64_t>(token.value) >= symbol_count)) {
      return refuse("it names a symbol that does not exist");
    }
    if (!is_leaf(token.op) && token.value != 0) return refuse("an operator carries a value");
    depth += is_leaf(token.op) ? 1 : -1;
    if (depth < 1) return refuse("an operator lacks operands");
    if (depth > kMaxExprDepth) return refuse("it needs a stack deeper than 64");
  }
  if (depth != 1) return refuse("it leaves more than one value");
  return {};
}

Result<int64_t> ExprTable::evaluate(ExprId id, std::span<const int64_t> symbols) const {
  const auto refuse = [](const char* why) {
    return fail(Code::plan_malformed).say("expression cannot be evaluated").because(why);
  };
  if (id >= ends_.size()) return refuse("no such expression");
  std::array<int64_t, kMaxExprDepth> stack;
  size_t depth = 0;
  for (const ExprToken& token : tokens(id)) {
    if (is_leaf(token.op)) {
      const bool symbol = token.op == ExprOp::kSymbol;
      if (symbol && static_cast<uint64_t>(token.value) >= symbols.size())
        return refuse("it names a symbol without a value");
      if (depth == stack.size()) return refuse("it needs a stack deeper than 64");
      stack[depth++] = symbol ? symbols[static_cast<size_t>(token.value)] : token.value;
      continue;
    }
    if (depth < 2) return refuse("an operator lacks operands");
    const MaybeInt value = apply(token.op, stack[depth - 2], stack[depth - 1]);
    const bool divides = token.op == ExprOp::kFloorDiv || token.op == ExprOp::kMod;
    if (!value)
      return refuse(divides && stack[depth - 1] == 0 ? "it divides by zero" : "it overflows 64 bits");
    stack[--depth - 1] = *value;
  }
  if (depth != 1) return refuse("it leaves more than one value");
  return stack[0];
}

std::string ExprTable::to_string(ExprId id, std::span<const std::string> symbol_names) const {
  if (id >= ends_.size()) return "?";
  std::vector<Text> stack;
  for (const ExprToken& token : tokens(id)) {
    if (is_leaf(token.op)) {
      stack.push_back(leaf_text(token, symbol_names));
      continue;
    }
    if (stack.size() < 2) return "?";
    Text right = std::move(stack.back());
    stack.pop_back();
    stack.back() = binary_text(token.op, std::move(stack.back()), std::move(right));
  }
  return stack.size() == 1 ? stack[0].text : "?";
}

}  // namespace ge
