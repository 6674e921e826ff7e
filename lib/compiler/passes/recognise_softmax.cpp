// softmax from e / sum(e) with e = exp(x - max(x)), maximum and sum along one axis. Without the maximum it
// overflows where softmax does not, and stays.
#include "compiler/passes/pattern.h"
#include "compiler/passes/recognise_rows.h"

namespace ge {

bool match_softmax(Pattern& p) {
  const ValueId e = p.result();
  const auto centred = centred_row(p, p.anchor().operands[0], "max");
  if (!centred || centred->axes.size() != 1) return false;
  for (const Graph::Use& use : p.graph().uses(e)) {
    if (use.node == kNone || !is_reduction(p.graph().node(use.node), "sum", centred->axes)) continue;
    const ValueId sum = p.graph().node(use.node).results[0];
    ValueId root = kNone;
    p.walk_users(sum, {{e, {}}, {sum, {}}}, 0,
                 [&](ValueId v, const Sum& found, const std::vector<Leaf>& leaves) {
                   if (root == kNone && p.same(found, {{1, {1, -1}}}) && p.is_whole(leaves[0], v) &&
                       p.is_row(leaves[1], v, centred->axes))
                     root = v;
                 });
    return p.replace(root, {centred->x}, [&](Builder& b) {
      return b.op(Op::softmax, {centred->x}, {{"axis", centred->axes[0]}});
    });
  }
  return false;
}

}  // namespace ge
