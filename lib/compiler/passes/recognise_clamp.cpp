// clamp from max and min: min(max(x, low), high) and max(min(x, high), low) with low <= high; relu is max(x,
// 0).
#include "compiler/passes/pattern.h"

namespace ge {
namespace {

struct Bounded {
  ValueId x = kNone;
  double bound = 0;
  bool below = false;
};

std::optional<Bounded> bounded(const Pattern& p, ValueId v) {
  const Node* node = p.graph().producer(v);
  if (node == nullptr) return std::nullopt;
  if (node->op == Op::relu) return Bounded{node->operands[0], 0, true};
  if (node->op != Op::max && node->op != Op::min) return std::nullopt;
  for (size_t i = 0; i < 2; ++i)
    if (const auto bound = p.number(node->operands[i]))
      return Bounded{node->operands[1 - i], *bound, node->op == Op::max};
  return std::nullopt;
}

}  // namespace

bool match_clamp(Pattern& p) {
  const auto outer = bounded(p, p.result());
  const auto inner = outer ? bounded(p, outer->x) : std::nullopt;
  if (!inner || inner->below == outer->below) return false;
  const double low = inner->below ? inner->bound : outer->bound,
               high = inner->below ? outer->bound : inner->bound;
  if (!(low <= high)) return false;
  const ValueId x = inner->x;
  return p.replace(p.result(), {x}, [&](Builder& b) {
    const Type type = b.type(x);
    return b.op(Op::clamp, {x, b.broadcast(b.scalar(type.dtype, low), type.dims),
                            b.broadcast(b.scalar(type.dtype, high), type.dims)});
  });
}

}  // namespace ge
