// gelu_tanh from x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), the cube by pow or by products.
#include <cmath>
#include <numbers>

#include "compiler/passes/pattern.h"

namespace ge {
namespace {

// x stands in the operand of tanh and as a factor behind it: every value a few steps back may be it.
std::vector<ValueId> candidates(const Pattern& p, ValueId v) {
  std::vector<ValueId> all{v};
  for (size_t i = 0; i < all.size() && all.size() < 24; ++i) {
    const Node* node = p.graph().producer(all[i]);
    if (node == nullptr ||
        (node->op != Op::add && node->op != Op::mul && node->op != Op::pow && node->op != Op::div))
      continue;
    for (const ValueId operand : node->operands)
      if (!p.number(operand) && std::find(all.begin(), all.end(), operand) == all.end())
        all.push_back(operand);
  }
  return all;
}

}  // namespace

bool match_gelu_tanh(Pattern& p) {
  const ValueId t = p.result(), argument = p.anchor().operands[0];
  const double c = std::sqrt(2 / std::numbers::pi);
  for (const ValueId x : candidates(p, argument)) {
    if (!p.is(argument, {{x, {}}}, {{c, {1}}, {c * 0.044715, {3}}})) continue;
    const ValueId root = p.user(t, {{x, {}}, {t, {}}}, {{0.5, {1, 0}}, {0.5, {1, 1}}});
    if (p.replace(root, x, Op::gelu_tanh)) return true;
  }
  return false;
}

}  // namespace ge
