// log_softmax from x - max - log(sum(exp(x - max))), in any order of the subtractions.
#include "compiler/passes/pattern.h"
#include "compiler/passes/recognise_rows.h"

namespace ge {

bool match_log_softmax(Pattern& p) {
  const Node* sum = p.reduction_behind(p.anchor().operands[0]);
  const Node* exp = sum == nullptr ? nullptr : p.producer(sum->operands[0], Op::exp);
  const auto centred = exp == nullptr ? std::nullopt : centred_row(p, exp->operands[0], "max");
  if (!centred || centred->axes.size() != 1 || !is_reduction(*sum, "sum", centred->axes)) return false;
  const ValueId total = sum->results[0];
  ValueId root = kNone;
  p.walk_users(p.result(), {{centred->x, {}}, {centred->row, {}}, {p.result(), {}}}, 0,
               [&](ValueId v, const Sum& found, const std::vector<Leaf>& leaves) {
                 if (root != kNone || !p.same(found, {{1, {1}}, {-1, {0, 1}}, {-1, {0, 0, 1}}})) return;
                 if (!p.is_whole(leaves[0], v) || !p.is_row(leaves[1], v, centred->axes)) return;
                 std::vector<Leaf> behind{{total, {}}};  // what the logarithm is of, as it lies here
                 const auto argument = p.sum_of({p.anchor().operands[0], leaves[2].maps}, behind);
                 if (argument && p.same(*argument, {{1, {1}}}) && p.is_row(behind[0], v, centred->axes))
                   root = v;
               });
  return p.replace(root, {centred->x}, [&](Builder& b) {
    return b.op(Op::log_softmax, {centred->x}, {{"axis", centred->axes[0]}});
  });
}

}  // namespace ge
