// hard_sigmoid from clamp(a * x + b, 0, m) / m.
#include "compiler/passes/pattern.h"

namespace ge {

bool match_hard_sigmoid(Pattern& p) {
  const Node& clamp = p.anchor();
  const auto low = p.number(clamp.operands[1]), high = p.number(clamp.operands[2]);
  const auto ways = p.affine_of(clamp.operands[0]);
  if (!low || *low != 0 || !high || !(*high > 0) || ways.size() < 2) return false;
  ValueId root = p.user(p.result(), {{p.result(), {}}}, {{1 / *high, {1}}});
  if (root == kNone && p.close(*high, 1)) root = p.result();
  const Affine in = ways.back();
  return p.replace(root, {in.x}, [&](Builder& b) {
    const Type type = b.type(in.x);
    const auto spread = [&](double c) { return b.broadcast(b.scalar(type.dtype, c), type.dims); };
    return b.op(Op::hard_sigmoid, {in.x, spread(in.scale / *high), spread(in.offset / *high)});
  });
}

}  // namespace ge
