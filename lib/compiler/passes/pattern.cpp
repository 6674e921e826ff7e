// Reading values as sums of products; see pattern.h.
#include "compiler/passes/pattern.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/passes/rewrite.h"
#include "numeric/convert.h"

namespace ge {
namespace {

constexpr size_t kMaxTerms = 12;  // of one sum
constexpr int kMaxReads = 200;    // of values for one formula
constexpr int kMaxDepth = 24;     // of what is read as one formula
constexpr size_t kMaxUsers = 24;  // values looked at behind an anchor
constexpr size_t kMaxFanOut = 6;  // a value with more users is no inner value of anything here
constexpr size_t kMaxInner = 64;  // nodes of one composite

double ulp_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 0x1p-52;
    case DType::float32:
      return 0x1p-23;
    case DType::float16:
      return 0x1p-10;
    default:
      return 0x1p-7;  // bfloat16
  }
}

double power(const Term& t, size_t leaf) {
  return leaf < t.powers.size() ? t.powers[leaf] : 0;
}

bool same_powers(const Term& a, const Term& b) {
  for (size_t i = 0; i < std::max(a.powers.size(), b.powers.size()); ++i)
    if (power(a, i) != power(b, i)) return false;
  return true;
}

void add_term(Sum& sum, const Term& t) {
  for (Term& have : sum)
    if (same_powers(have, t)) {
      have.factor += t.factor;
      return;
    }
  sum.push_back(t);
}

using MaybeSum = std::optional<Sum>;

MaybeSum plus(const MaybeSum& a, const MaybeSum& b, double sign) {
  if (!a || !b) return std::nullopt;
  Sum sum = *a;
  for (Term t : *b) {
    t.factor *= sign;
    add_term(sum, t);
  }
  std::erase_if(sum, [](const Term& t) { return t.factor == 0; });
  return sum.size() > kMaxTerms ? std::nullopt : MaybeSum(std::move(sum));
}

MaybeSum times(const MaybeSum& a, const MaybeSum& b) {
  if (!a || !b) return std::nullopt;
  Sum sum;
  for (const Term& x : *a)
    for (const Term& y : *b) {
      Term t{x.factor * y.factor, {}};
      for (size_t i = 0; i < std::max(x.powers.size(), y.powers.size()); ++i)
        t.powers.push_back(power(x, i) + power(y, i));
      add_term(sum, t);
      if (sum.size() > kMaxTerms) return std::nullopt;
    }
  return sum;
}

// One product; a root only of one leaf as it is: sqrt(x * x) is no x.
MaybeSum raised(const MaybeSum& a, double exponent) {
  if (!a) return std::nullopt;
  if (exponent == std::floor(exponent) && exponent >= 1 && exponent <= 4) {
    MaybeSum product = a;
    for (int i = 1; i < static_cast<int>(exponent); ++i) product = times(product, a);
    return product;
  }
  if (a->size() != 1) return std::nullopt;
  Term t = a->front();
  const bool root = exponent == 0.5 || exponent == -0.5;
  if (!root && exponent != -1 && exponent != -2) return std::nullopt;
  double met = 0;
  for (double& p : t.powers) {
    met += std::abs(p);
    p *= exponent;
  }
  if (t.factor == 0 || (root && (met != 1 || t.factor < 0))) return std::nullopt;
  t.factor = std::pow(t.factor, exponent);
  return Sum{t};
}

bool is_arithmetic(Op op) {
  switch (op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::neg:
    case Op::pow:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::reciprocal:
    case Op::broadcast:
    case Op::reshape:
      return true;
    default:
      return false;
  }
}

}  // namespace

Pattern::Pattern(Graph& graph, NodeId anchor)
    : graph_(graph),
      anchor_(anchor),
      tolerance_(4 * ulp_of(graph.type(graph.node(anchor).results[0]).dtype)) {}

const Node* Pattern::producer(ValueId v, Op op) const {
  const Node* node = v == kNone ? nullptr : graph_.producer(v);
  return node != nullptr && node->op == op ? node : nullptr;
}

std::optional<double> Pattern::number(ValueId v) const {
  while (const Node* node = v == kNone ? nullptr : graph_.producer(v)) {
    if (node->op == Op::constant) {
      const TensorData& data = *node->data;
      if (!data.splat && data.count() != 1) return std::nullopt;
      const auto bytes = full_bytes({data.dtype, {}, data.bytes, data.splat, data.load});
      if (!bytes.ok() || !is_float(data.dtype)) return std::nullopt;
      return load_as_double(data.dtype, (*bytes)->data(), 0);
    }
    if (node->op != Op::broadcast && node->op != Op::reshape && node->op != Op::transpose)
      return std::nullopt;
    v = node->operands[0];
  }
  return std::nullopt;
}

bool Pattern::close(double a, double b) const {
  return a == b || std::abs(a - b) <= tolerance_ * std::abs(b);
}

std::vector<Affine> Pattern::affine_of(ValueId v) const {
  std::vector<Affine> ways{{1, 0, v}};
  for (int i = 0; i < 4; ++i) {
    const Affine last = ways.back();
    const Node* node = graph_.producer(last.x);
    if (node == nullptr) break;
    Affine next = last;
    if (node->op == Op::neg) {
      next = {-last.scale, last.offset, node->operands[0]};
    } else if (node->op == Op::add || node->op == Op::sub || node->op == Op::mul || node->op == Op::div) {
      const auto left = number(node->operands[0]), right = number(node->operands[1]);
      if (left.has_value() == right.has_value() || (node->op == Op::div && (left || *right == 0))) break;
      next.x = node->operands[left ? 1 : 0];
      const double c = left ? *left : *right;
      if (node->op == Op::add || node->op == Op::sub) {
        next.offset += last.scale * (node->op == Op::sub && right ? -c : c);
        if (node->op == Op::sub && left) next.scale = -last.scale;
      } else {
        next.scale = node->op == Op::mul ? last.scale * c : last.scale / c;
      }
    } else {
      break;
    }
    ways.push_back(next);
  }
  return ways;
}

// -- reading --

// Axes of extent 1 lie anywhere.
bool Pattern::same_place(ValueId v, const AxisMaps& a, const AxisMaps& b) const {
  const Dims& dims = graph_.type(v).dims;
  if (a.size() != b.size() || a.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!dims[i].is_value(1) && !(a[i] == b[i])) return false;
  return true;
}

std::optional<Sum> Pattern::read_leaf(size_t i, const AxisMaps& maps, std::vector<Leaf>& leaves) const {
  if (!leaves[i].maps) leaves[i].maps = maps;
  if (!same_place(leaves[i].value, *leaves[i].maps, maps)) return std::nullopt;
  Term t{1, Powers(i + 1, 0)};
  t.powers[i] = 1;
  return Sum{t};
}

std::optional<Sum> Pattern::read_free(ValueId v, const AxisMaps& maps, std::vector<Leaf>& leaves,
                                      size_t free) const {
  if (leaves.size() >= free) return std::nullopt;  // `free` counts all leaves there may be
  leaves.push_back({v, maps});
  return read_leaf(leaves.size() - 1, maps, leaves);
}

std::optional<Sum> Pattern::read(ValueId v, const AxisMaps& maps, std::vector<Leaf>& leaves, size_t free,
                                 int depth) const {
  if (--budget_ < 0) return std::nullopt;
  for (size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].value == v) return read_leaf(i, maps, leaves);
  if (const auto c = number(v)) return Sum{{*c, {}}};
  const Node* node = graph_.producer(v);
  if (node == nullptr || !is_arithmetic(node->op) || depth > kMaxDepth)
    return read_free(v, maps, leaves, free);
  const auto operand = [&](size_t i) { return read(node->operands[i], maps, leaves, free, depth + 1); };
  switch (node->op) {
    case Op::add:
      return plus(operand(0), operand(1), 1);
    case Op::sub:
      return plus(operand(0), operand(1), -1);
    case Op::mul:
      return times(operand(0), operand(1));
    case Op::div:
      return times(operand(0), raised(operand(1), -1));
    case Op::neg:
      return times(operand(0), Sum{{-1, {}}});
    case Op::sqrt:
      return raised(operand(0), 0.5);
    case Op::rsqrt:
      return raised(operand(0), -0.5);
    case Op::reciprocal:
      return raised(operand(0), -1);
    case Op::pow: {
      const auto exponent = number(node->operands[1]);
      return exponent ? raised(operand(0), *exponent) : std::nullopt;
    }
    default:
      break;
  }
  const Dims &from = graph_.type(node->operands[0]).dims, &to = graph_.type(v).dims;
  const auto inner = node->op == Op::broadcast ? std::optional(through_broadcast(maps, from, to))
                                               : through_unit_reshape(maps, from, to);
  if (!inner) return read_free(v, maps, leaves, free);
  return read(node->operands[0], *inner, leaves, free, depth + 1);
}

std::optional<Sum> Pattern::sum_of(ValueId v, std::vector<Leaf>& leaves, size_t free) const {
  for (Leaf& leaf : leaves) leaf.maps.reset();
  budget_ = kMaxReads;
  const size_t known = leaves.size(), rank = graph_.type(v).dims.size();
  auto sum = read(v, identity_map(rank), leaves, known + free, 0);
  for (size_t i = known; i < leaves.size(); ++i) {
    const auto& maps = *leaves[i].maps;
    const bool repeated = maps.size() < rank ||
                          std::any_of(maps.begin(), maps.end(), [](const AxisMap& m) { return m.axis < 0; });
    if (!repeated && !graph_.is_constant(leaves[i].value)) return std::nullopt;
  }
  return sum;
}

std::optional<Sum> Pattern::sum_of(const Leaf& seen, std::vector<Leaf>& leaves) const {
  for (Leaf& leaf : leaves) leaf.maps.reset();
  budget_ = kMaxReads;
  return seen.maps ? read(seen.value, *seen.maps, leaves, 0, 0) : std::nullopt;
}

bool Pattern::same(const Sum& a, const Sum& b) const {
  if (a.size() != b.size()) return false;
  return std::all_of(a.begin(), a.end(), [&](const Term& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Term& y) { return same_powers(x, y) && close(x.factor, y.factor); });
  });
}

bool Pattern::is(ValueId v, std::vector<Leaf> leaves, const Sum& wanted) const {
  const auto sum = sum_of(v, leaves);
  return sum && same(*sum, wanted) &&
         std::all_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) { return is_whole(leaf, v); });
}

// -- looking around --

void Pattern::walk_users(
    ValueId from, const std::vector<Leaf>& leaves, size_t free,
    const std::function<void(ValueId, const Sum&, const std::vector<Leaf>&)>& take) const {
  std::vector<ValueId> values{from};
  for (size_t i = 0; i < values.size() && values.size() < kMaxUsers; ++i) {
    if (graph_.use_count(values[i]) > kMaxFanOut) continue;
    for (const Graph::Use& use : graph_.uses(values[i])) {
      if (use.node == kNone || !is_arithmetic(graph_.node(use.node).op)) continue;
      const ValueId v = graph_.node(use.node).results[0];
      if (std::find(values.begin(), values.end(), v) != values.end()) continue;
      std::vector<Leaf> met = leaves;
      const auto sum = sum_of(v, met, free);
      if (!sum) continue;  // nor is what is made from it
      values.push_back(v);
      take(v, *sum, met);
    }
  }
}

ValueId Pattern::user(ValueId from, const std::vector<Leaf>& leaves, const Sum& wanted) const {
  ValueId found = kNone;
  walk_users(from, leaves, 0, [&](ValueId v, const Sum& sum, const std::vector<Leaf>& met) {
    const bool whole =
        std::all_of(met.begin(), met.end(), [&](const Leaf& leaf) { return is_whole(leaf, v); });
    if (found == kNone && whole && same(sum, wanted)) found = v;
  });
  return found;
}

bool Pattern::is_whole(const Leaf& leaf, ValueId under) const {
  return leaf.maps && graph_.type(leaf.value) == graph_.type(under) &&
         same_place(leaf.value, *leaf.maps, identity_map(graph_.type(under).dims.size()));
}

bool Pattern::is_row(const Leaf& leaf, ValueId under, const std::vector<int64_t>& axes) const {
  AxisMaps kept;
  for (size_t a = 0; a < graph_.type(under).dims.size(); ++a)
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(a)) == axes.end())
      kept.push_back({static_cast<int8_t>(a), 1, 0});
  return leaf.maps && same_place(leaf.value, *leaf.maps, kept);
}

const Node* Pattern::reduction_behind(ValueId v) const {
  for (int i = 0; i < kMaxDepth; ++i) {
    const Node* node = v == kNone ? nullptr : graph_.producer(v);
    if (node == nullptr || node->op == Op::reduce) return node;
    if (!is_arithmetic(node->op)) return nullptr;
    const bool second = node->operands.size() > 1 && number(node->operands[0]).has_value();
    v = node->operands[second ? 1 : 0];
  }
  return nullptr;
}

// -- replacing --

std::optional<std::vector<NodeId>> Pattern::between(ValueId root, const std::vector<ValueId>& leaves) const {
  std::vector<NodeId> inner;
  std::vector<ValueId> todo{root};
  const auto is_leaf = [&](ValueId v) { return std::find(leaves.begin(), leaves.end(), v) != leaves.end(); };
  while (!todo.empty()) {
    const ValueId v = todo.back();
    todo.pop_back();
    if (v == kNone || is_leaf(v) || number(v) || graph_.is_constant(v)) continue;
    const NodeId id = graph_.value(v).producer;
    if (id == kNone || inner.size() > kMaxInner) return std::nullopt;
    if (std::find(inner.begin(), inner.end(), id) != inner.end()) continue;
    inner.push_back(id);
    todo.insert(todo.end(), graph_.node(id).operands.begin(), graph_.node(id).operands.end());
  }
  for (const NodeId id : inner)
    for (const ValueId v : graph_.node(id).results)
      for (const Graph::Use& use : graph_.uses(v))
        if (v != root &&
            (use.node == kNone || std::find(inner.begin(), inner.end(), use.node) == inner.end()))
          return std::nullopt;
  return inner;
}

bool Pattern::replace(ValueId root, const std::vector<ValueId>& leaves,
                      const std::function<ValueId(Builder&)>& make) {
  if (root == kNone) return false;
  auto inner = between(root, leaves);
  if (!inner) return false;
  std::sort(inner->begin(), inner->end());
  std::vector<Source> sources;
  for (const NodeId id : *inner) merge_sources(sources, graph_.node(id).sources);
  Builder b(graph_, std::move(sources));
  const ValueId made = make(b);
  return b.take().ok() && replace_value(graph_, root, made);
}

bool Pattern::replace(ValueId root, ValueId x, Op op) {
  return replace(root, {x}, [&](Builder& b) { return b.op(op, {x}); });
}

}  // namespace ge
