// gelu from x / 2 * (1 + erf(x / sqrt(2))); erf is odd, so erf(-x / sqrt(2)) may be subtracted.
#include <numbers>

#include "compiler/passes/pattern.h"

namespace ge {

bool match_gelu(Pattern& p) {
  const ValueId e = p.result();
  for (const Affine& in : p.affine_of(p.anchor().operands[0])) {
    const double sign = in.scale < 0 ? -1 : 1;
    if (in.offset != 0 || !p.close(sign * in.scale, 1 / std::numbers::sqrt2)) continue;
    const ValueId root = p.user(e, {{in.x, {}}, {e, {}}}, {{0.5, {1, 0}}, {0.5 * sign, {1, 1}}});
    if (p.replace(root, in.x, Op::gelu)) return true;
  }
  return false;
}

}  // namespace ge
