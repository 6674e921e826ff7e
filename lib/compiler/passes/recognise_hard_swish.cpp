// hard_swish from x * clamp(x + 3, 0, 6) / 6, and from x * hard_sigmoid(x, 1/6, 1/2).
#include "compiler/passes/pattern.h"

namespace ge {

bool match_hard_swish(Pattern& p) {
  const Node& node = p.anchor();
  double low = 0, high = 1, scale = 1, offset = 0;
  const auto first = p.number(node.operands[1]), second = p.number(node.operands[2]);
  if (!first || !second) return false;
  (node.op == Op::clamp ? low : scale) = *first;
  (node.op == Op::clamp ? high : offset) = *second;
  if (low != 0 || !(high > 0)) return false;
  for (const Affine& in : p.affine_of(node.operands[0])) {
    const bool sixth =
        p.close((in.scale * scale) / high, 1.0 / 6) && p.close((in.offset * scale + offset) / high, 0.5);
    if (!sixth) continue;
    const ValueId root = p.user(p.result(), {{in.x, {}}, {p.result(), {}}}, {{1 / high, {1, 1}}});
    if (p.replace(root, in.x, Op::hard_swish)) return true;
  }
  return false;
}

}  // namespace ge
