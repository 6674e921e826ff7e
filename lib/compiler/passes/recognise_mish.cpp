// mish from x * tanh(softplus(x)).
#include "compiler/passes/pattern.h"

namespace ge {

bool match_mish(Pattern& p) {
  const Node* softplus = p.producer(p.anchor().operands[0], Op::softplus);
  if (softplus == nullptr) return false;
  const ValueId x = softplus->operands[0], t = p.result();
  return p.replace(p.user(t, {{x, {}}, {t, {}}}, {{1, {1, 1}}}), x, Op::mish);
}

}  // namespace ge
