// silu from x * sigmoid(x) and x / (1 + exp(-x)); swish, with a factor, from x * sigmoid(a * x).
#include "compiler/passes/pattern.h"

namespace ge {
namespace {

bool from_exp(Pattern& p) {
  const ValueId e = p.result();
  const ValueId sum = p.user(e, {{e, {}}}, {{1, {0}}, {1, {1}}});
  if (sum == kNone) return false;
  for (const Affine& in : p.affine_of(p.anchor().operands[0])) {
    if (in.offset != 0 || in.scale != -1) continue;
    if (p.replace(p.user(sum, {{in.x, {}}, {sum, {}}}, {{1, {1, -1}}}), in.x, Op::silu)) return true;
  }
  return false;
}

}  // namespace

bool match_silu(Pattern& p) {
  if (p.anchor().op == Op::exp) return from_exp(p);
  const ValueId s = p.result();
  for (const Affine& in : p.affine_of(p.anchor().operands[0])) {
    if (in.offset != 0) continue;
    const ValueId root = p.user(s, {{in.x, {}}, {s, {}}}, {{1, {1, 1}}});
    if (root == kNone) continue;
    if (in.scale == 1) return p.replace(root, in.x, Op::silu);
    return p.replace(root, {in.x}, [&](Builder& b) {
      const Type type = b.type(in.x);
      return b.op(Op::swish, {in.x, b.broadcast(b.scalar(type.dtype, in.scale), type.dims)});
    });
  }
  return false;
}

}  // namespace ge
