// normalize (layer and rms) from (x - mean) / sqrt(mean((x - mean)^2) + e) * scale + bias over trailing axes;
// also where scale and bias are multiplied in before x, as batch normalization's formula does.
#include "compiler/passes/pattern.h"
#include "compiler/passes/recognise_rows.h"

namespace ge {
namespace {

struct Norm {
  ValueId x = kNone, mean = kNone;  // mean kNone: rms
  double mean_factor = 0;
  ValueId inside = kNone;  // variance + epsilon
  double epsilon = 0;
  const Node* variance = nullptr;
  double variance_factor = 0;
  std::vector<int64_t> axes;
};

// The value whose square `v` is; kNone.
ValueId square_root(const Pattern& p, ValueId v) {
  const Node* node = p.graph().producer(v);
  if (node == nullptr) return kNone;
  if (node->op == Op::mul && node->operands[0] == node->operands[1]) return node->operands[0];
  return node->op == Op::pow && p.number(node->operands[1]) == 2.0 ? node->operands[0] : kNone;
}

bool are_trailing(const std::vector<int64_t>& axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(rank - axes.size() + i)) return false;
  return !axes.empty();
}

// What stands under the root.
std::optional<Norm> norm_of(const Pattern& p) {
  const Node& anchor = p.anchor();
  if (anchor.op == Op::pow) {
    const auto exponent = p.number(anchor.operands[1]);
    if (!exponent || (*exponent != 0.5 && *exponent != -0.5)) return std::nullopt;
  }
  Norm norm;
  norm.inside = anchor.operands[0];
  norm.variance = p.reduction_behind(norm.inside);
  if (norm.variance == nullptr) return std::nullopt;
  norm.variance_factor = mean_factor(p.graph(), *norm.variance);
  const ValueId deviation = square_root(p, norm.variance->operands[0]);
  if (norm.variance_factor == 0 || deviation == kNone) return std::nullopt;
  norm.axes = attr_ints(*norm.variance, "axes");
  if (!are_trailing(norm.axes, p.graph().type(deviation).dims.size())) return std::nullopt;
  norm.x = deviation;
  if (const auto centred = centred_row(p, deviation, "mean"); centred && centred->axes == norm.axes) {
    norm.x = centred->x;
    norm.mean = centred->row;
    norm.mean_factor = mean_factor(p.graph(), *p.graph().producer(centred->row));
  }
  return norm;
}

// variance + epsilon under v, the variance one value per row; fills epsilon.
bool is_inside(const Pattern& p, Norm& norm, const Leaf& inside, ValueId v) {
  std::vector<Leaf> leaves{{norm.variance->results[0], {}}};
  const auto sum = p.sum_of(inside, leaves);
  if (!sum || sum->size() > 2 || !p.is_row(leaves[0], v, norm.axes)) return false;
  norm.epsilon = 0;
  double factor = 0;
  for (const Term& t : *sum) (t.powers.empty() || t.powers[0] == 0 ? norm.epsilon : factor) += t.factor;
  return p.close(factor, norm.variance_factor) && norm.epsilon >= 0 &&
         p.same(*sum, norm.epsilon == 0 ? Sum{{factor, {1}}} : Sum{{factor, {1}}, {norm.epsilon, {}}});
}

// A free leaf that broadcasts to v as numpy does.
bool spreads(const Pattern& p, const Leaf& leaf, ValueId v) {
  const Dims &from = p.graph().type(leaf.value).dims, &to = p.graph().type(v).dims;
  if (from.size() > to.size()) return false;
  for (size_t i = 0; i < from.size(); ++i)
    if (!from[i].is_value(1) && (*leaf.maps)[i].axis != static_cast<int8_t>(to.size() - from.size() + i))
      return false;
  return true;
}

struct Whole {
  ValueId root = kNone, scale = kNone, bias = kNone;
  double epsilon = 0;
};

// The terms of (x - mean) * inside^-1/2 * scale + bias for the leaves x, inside, [mean], [scale, [bias]].
Sum formula(const Norm& norm, size_t scale, size_t bias) {
  const auto term = [&](double factor, size_t leaf) {
    Term t{factor, std::vector<double>(5, 0)};
    t.powers[leaf] = 1;
    t.powers[1] = -0.5;
    if (scale != 0) t.powers[scale] = 1;
    return t;
  };
  Sum sum{term(1, 0)};
  if (norm.mean != kNone) sum.push_back(term(-norm.mean_factor, 2));
  if (bias != 0) {
    sum.push_back({1, std::vector<double>(5, 0)});
    sum.back().powers[bias] = 1;
  }
  return sum;
}

void consider(const Pattern& p, Norm& norm, ValueId v, const Sum& sum, const std::vector<Leaf>& leaves,
              Whole& best) {
  const size_t known = norm.mean == kNone ? 2 : 3, free = leaves.size() - known;
  size_t scale = 0, bias = 0;
  if (free == 0 && !p.same(sum, formula(norm, 0, 0))) return;
  if (free == 1) scale = known;
  if (free == 2) {
    scale = p.same(sum, formula(norm, known, known + 1)) ? known : known + 1;
    bias = 2 * known + 1 - scale;
  }
  if (!p.same(sum, formula(norm, scale, bias)) || !p.is_whole(leaves[0], v)) return;
  if (norm.mean != kNone && !p.is_row(leaves[2], v, norm.axes)) return;
  for (size_t i = known; i < leaves.size(); ++i)
    if (!spreads(p, leaves[i], v)) return;
  if (!is_inside(p, norm, leaves[1], v)) return;
  best = {v, scale == 0 ? kNone : leaves[scale].value, bias == 0 ? kNone : leaves[bias].value, norm.epsilon};
}

}  // namespace

bool match_normalize(Pattern& p) {
  auto norm = norm_of(p);
  if (!norm) return false;
  std::vector<Leaf> leaves{{norm->x, {}}, {norm->inside, {}}};
  if (norm->mean != kNone) leaves.push_back({norm->mean, {}});
  std::vector<Whole> found;  // the farthest takes most
  p.walk_users(p.result(), leaves, 2, [&](ValueId v, const Sum& sum, const std::vector<Leaf>& met) {
    Whole whole;
    consider(p, *norm, v, sum, met, whole);
    if (whole.root != kNone) found.push_back(whole);
  });
  for (auto it = found.rbegin(); it != found.rend(); ++it) {
    std::vector<ValueId> ends{norm->x};
    if (it->scale != kNone) ends.push_back(it->scale);
    if (it->bias != kNone) ends.push_back(it->bias);
    const bool done = p.replace(it->root, ends, [&](Builder& b) {
      const Dims dims = b.type(norm->x).dims;
      std::vector<ValueId> operands{norm->x};
      for (size_t i = 1; i < ends.size(); ++i) operands.push_back(b.broadcast(ends[i], dims));
      return b.op(Op::normalize, std::move(operands),
                  {{"kind", std::string(norm->mean == kNone ? "rms" : "layer")},
                   {"axis", norm->axes.front()},
                   {"epsilon", it->epsilon}});
    });
    if (done) return true;
  }
  return false;
}

}  // namespace ge
