// sigmoid from 1 / (1 + exp(-x)).
#include "compiler/passes/pattern.h"

namespace ge {

bool match_sigmoid(Pattern& p) {
  const ValueId e = p.result();
  const ValueId sum = p.user(e, {{e, {}}}, {{1, {0}}, {1, {1}}});
  if (sum == kNone) return false;
  for (const Affine& in : p.affine_of(p.anchor().operands[0])) {
    if (in.offset != 0 || in.scale != -1) continue;
    if (p.replace(p.user(sum, {{sum, {}}}, {{1, {-1}}}), in.x, Op::sigmoid)) return true;
  }
  return false;
}

}  // namespace ge
