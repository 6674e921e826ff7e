// attention from dot(softmax(scale * dot(q, k') + mask), v): the scale before or behind the product or part
// of q or k, a mask that is added or selects, casts around the softmax; heads in one axis with the batch or
// of their own, keys repeated for a group of heads. A constant mask that is a triangle becomes `causal`. The
// mask's number for what is not seen may be finite if it is next to the lowest of its type: exp() of it is 0
// beside any key that is seen, and a triangle's rows see one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/passes/pattern.h"
#include "numeric/convert.h"

namespace ge {
namespace {

constexpr int kMaxChain = 16;  // nodes between softmax and product

// Axes 0 .. rank - 1 with the last two swapped.
std::vector<int64_t> swapped(size_t rank) {
  std::vector<int64_t> perm(rank);
  for (size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return perm;
}

bool is_finite_low(DType dtype, double value) {
  const double lowest = dtype == DType::float16 ? -65504.0 : -std::numeric_limits<float>::max();
  return value <= lowest / 4;
}

class AttentionMatch {
 public:
  explicit AttentionMatch(Pattern& p) : p_(p), g_(p.graph()) {}

  bool run() {
    const Node& mixed = p_.anchor();
    if (mixed.operands.size() != 2) return false;
    rank_ = dims(p_.result()).size();
    if (rank_ > 4 || !read_weights(mixed.operands[0])) return false;
    value_ = mixed.operands[1];
    const DType dtype = g_.type(query_).dtype;
    if (dtype != g_.type(key_).dtype || dtype != g_.type(value_).dtype || bits_of(dtype) < 16) return false;
    if (mask_ != kNone && !is_bool(g_.type(mask_).dtype) && g_.type(mask_).dtype != dtype) return false;
    find_causal();
    return p_.replace(root(), leaves(), [&](Builder& b) { return build(b); });
  }

 private:
  const Dims& dims(ValueId v) const { return g_.type(v).dims; }
  const Node* made_by(ValueId v, Op op) const { return p_.producer(v, op); }

  // -- reading --
  bool read_weights(ValueId v) {
    while (const Node* cast = made_by(v, Op::cast)) v = cast->operands[0];
    const Node* softmax = made_by(v, Op::softmax);
    if (softmax == nullptr || attr_int(*softmax, "axis") + 1 != static_cast<int64_t>(dims(v).size()))
      return false;
    if (dims(v).size() != rank_) return false;
    return read_scores(softmax->operands[0]);
  }

  bool read_scores(ValueId v) {
    for (int i = 0; i < kMaxChain; ++i) {
      const Node* node = g_.producer(v);
      if (node == nullptr) return false;
      switch (node->op) {
        case Op::cast:
          v = node->operands[0];
          if (!is_float(g_.type(v).dtype)) return false;
          break;
        case Op::mul:
        case Op::div:
          v = scaled(*node);
          break;
        case Op::add:
          v = added(*node);
          break;
        case Op::select:
          v = selected(*node);
          break;
        case Op::dot:
          return read_product(*node);
        default:
          return false;
      }
      if (v == kNone) return false;
    }
    return false;
  }

  // The operand that a number multiplies or divides; the scale takes the number.
  ValueId scaled(const Node& node) {
    const auto right = p_.number(node.operands[1]);
    const auto left = node.op == Op::mul && !right ? p_.number(node.operands[0]) : std::nullopt;
    if (right.has_value() == left.has_value() || (node.op == Op::div && *right == 0)) return kNone;
    scale_ *= left ? *left : node.op == Op::mul ? *right : 1 / *right;
    return node.operands[left ? 1 : 0];
  }

  // Whether v is made of a product by what read_scores takes off.
  bool leads_to_product(ValueId v, int depth) const {
    const Node* node = g_.producer(v);
    if (node == nullptr || depth > kMaxChain) return false;
    switch (node->op) {
      case Op::dot:
        return true;
      case Op::cast:
        return leads_to_product(node->operands[0], depth + 1);
      case Op::mul:
      case Op::div:
        return leads_to_product(node->operands[p_.number(node->operands[0]) ? 1 : 0], depth + 1);
      case Op::add:
        return leads_to_product(node->operands[0], depth + 1) ||
               leads_to_product(node->operands[1], depth + 1);
      case Op::select:
        return leads_to_product(node->operands[p_.number(node->operands[1]) ? 2 : 1], depth + 1);
      default:
        return false;
    }
  }

  bool has_mask() const { return mask_ != kNone || scale_ != 1; }  // what is scaled too is no mask of this op
  ValueId added(const Node& node) {
    const size_t inner = leads_to_product(node.operands[0], 0) ? 0 : 1;
    if (has_mask()) return kNone;
    mask_ = node.operands[1 - inner];
    return node.operands[inner];
  }
  ValueId selected(const Node& node) {
    if (has_mask()) return kNone;
    const auto behind = p_.number(node.operands[2]), before = p_.number(node.operands[1]);
    if (behind.has_value() == before.has_value()) return kNone;
    mask_ = node.operands[0];
    negated_ = before.has_value();
    fill_ = before ? *before : *behind;
    if (!(fill_ <= std::numeric_limits<double>::max())) return kNone;  // NaN, +inf
    return node.operands[before ? 2 : 1];
  }

  bool read_product(const Node& product) {
    if (product.operands.size() != 2) return false;
    query_ = unscaled(product.operands[0]);
    ValueId key = unscaled(product.operands[1]);
    const Node* turned = made_by(key, Op::transpose);
    if (turned != nullptr && attr_ints(*turned, "perm") == swapped(rank_)) {
      key = unscaled(turned->operands[0]);
      turned_ = false;
    }
    key_ = key;
    return true;
  }
  ValueId unscaled(ValueId v) {
    const Node* node = g_.producer(v);
    while (node != nullptr && (node->op == Op::mul || node->op == Op::div) && g_.use_count(v) == 1) {
      const ValueId inner = scaled(*node);
      if (inner == kNone) break;
      v = inner;
      node = g_.producer(v);
    }
    return v;
  }

  // -- a mask that is a triangle --
  void find_causal() {
    if (mask_ == kNone || negated_) return;
    ValueId v = mask_;
    while (const Node* node = g_.producer(v)) {
      if (node->op != Op::broadcast &&
          !(node->op == Op::reshape && is_unit_reshape(dims(node->operands[0]), dims(v))))
        break;
      v = node->operands[0];
    }
    const TensorData* data = g_.constant(v);
    if (data == nullptr || data->dims.size() < 2 || data->count() != last_two(data->dims)) return;
    const Dims& scores = dims(mask_);
    const int64_t rows = data->dims[data->dims.size() - 2], columns = data->dims.back();
    if (!scores[rank_ - 2].is_value(rows) || !scores[rank_ - 1].is_value(columns)) return;
    const bool boolean = is_bool(data->dtype);
    const DType dtype = g_.type(query_).dtype;
    if (boolean && !is_finite_low(dtype, fill_)) return;
    const auto bytes = full_bytes(*data);
    if (!bytes.ok()) return;
    for (const int64_t ahead : {int64_t{0}, columns - rows}) {
      if (ahead < 0 || !is_triangle(*data, **bytes, rows, columns, ahead)) continue;
      causal_ = ahead == 0 ? 1 : 2;
      dropped_ = mask_;
      mask_ = kNone;
      return;
    }
  }
  static int64_t last_two(const std::vector<int64_t>& d) { return d[d.size() - 2] * d.back(); }
  bool is_triangle(const TensorData& data, const ByteBuffer& bytes, int64_t rows, int64_t columns,
                   int64_t ahead) const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const bool seen = j <= i + ahead;
        const int64_t at = i * columns + j;
        if (is_bool(data.dtype)) {
          if ((load_as_int64(data.dtype, bytes.data(), at) != 0) != seen) return false;
        } else {
          const double value = load_as_double(data.dtype, bytes.data(), at);
          if (seen ? value != 0 : !is_finite_low(data.dtype, value)) return false;
        }
      }
    }
    return true;
  }

  // -- building --
  // [N, S, D] made of [B, H, S, D]: that; else kNone.
  ValueId unmerged(ValueId v) const {
    const Node* node = rank_ == 3 ? made_by(v, Op::reshape) : nullptr;
    if (node == nullptr || dims(node->operands[0]).size() != 4) return kNone;
    const Dims &whole = dims(node->operands[0]), &merged = dims(v);
    return whole[2] == merged[1] && whole[3] == merged[2] ? node->operands[0] : kNone;
  }
  // All three are, with one batch and the same heads.
  bool is_merged() const {
    Dims first;
    for (const ValueId v : {query_, key_, value_}) {
      const ValueId whole = unmerged(v);
      if (whole == kNone) return false;
      const Dims batch{dims(whole)[0], dims(whole)[1]};
      if (first.empty()) first = batch;
      if (first != batch) return false;
    }
    return true;
  }

  // The result, or what its only user makes of it where that undoes the merging.
  ValueId root() const {
    const ValueId y = p_.result();
    const auto& uses = g_.uses(y);
    if (!is_merged() || uses.size() != 1 || uses[0].node == kNone) return y;
    const Node& user = g_.node(uses[0].node);
    const Dims& whole = dims(unmerged(query_));
    const Dims wanted{whole[0], whole[1], dims(y)[1], dims(y)[2]};
    return user.op == Op::reshape && dims(user.results[0]) == wanted ? user.results[0] : y;
  }

  std::vector<ValueId> leaves() const {
    std::vector<ValueId> all{query_, key_, value_};
    if (mask_ != kNone) all.push_back(mask_);
    if (dropped_ != kNone) all.push_back(dropped_);
    return all;
  }

  // [batch, heads, ..., ...] of 2 to 4 axes.
  ValueId with_heads(Builder& b, ValueId x) const {
    if (is_merged())
      if (const ValueId whole = unmerged(x); whole != kNone) return whole;
    Dims d = dims(x);
    if (is_merged()) {
      const Dims& whole = dims(unmerged(query_));
      return b.reshape(x, {whole[0], whole[1], d[1], d[2]});
    }
    d.insert(d.begin(), 4 - d.size(), Dim(1));
    return b.reshape(x, d);
  }

  // Heads that are copies, n of each side by side: those that are copied.
  ValueId shared_heads(Builder& b, ValueId x) const {
    const Node* merged = made_by(x, Op::reshape);
    const Node* copied = merged == nullptr ? nullptr : made_by(merged->operands[0], Op::broadcast);
    if (copied == nullptr) return x;
    const Dims &to = dims(merged->operands[0]), &from = dims(copied->operands[0]), &d = dims(x);
    if (to.size() != 5 || from.size() != 5 || !from[2].is_value(1)) return x;
    for (const size_t a : {0, 1, 3, 4})
      if (!(from[a] == to[a])) return x;
    if (!(to[0] == d[0] && to[3] == d[2] && to[4] == d[3]) || !to[1].value() || !d[1].value()) return x;
    return b.reshape(copied->operands[0], {from[0], from[1], from[3], from[4]});
  }

  // The condition, or its opposite.
  ValueId condition(Builder& b) const {
    if (!negated_) return mask_;
    const Node* spread = made_by(mask_, Op::broadcast);
    if (spread == nullptr) return b.op(Op::logical_not, {mask_});
    return b.broadcast(b.op(Op::logical_not, {spread->operands[0]}), dims(mask_));
  }

  ValueId build(Builder& b) const {
    const ValueId plain = turned_ ? b.transpose(key_, swapped(rank_)) : key_;
    if (b.failed()) return kNone;
    const ValueId query = with_heads(b, query_), key = with_heads(b, plain), value = with_heads(b, value_);
    if (b.failed()) return kNone;
    const ValueId few = shared_heads(b, key), few_values = shared_heads(b, value);
    const bool grouped = !b.failed() && few != key && dims(few)[1] == dims(few_values)[1];
    std::vector<ValueId> operands{query, grouped ? few : key, grouped ? few_values : value};
    AttrMap attrs{{"scale", scale_}};
    if (causal_ != 0) attrs["causal"] = causal_;
    if (mask_ != kNone) {
      operands.push_back(with_heads(b, condition(b)));
      if (is_bool(g_.type(mask_).dtype) && std::isfinite(fill_)) attrs["fill"] = fill_;
    }
    const ValueId heads =
        b.transpose(b.op(Op::attention, std::move(operands), std::move(attrs)), {0, 2, 1, 3});
    return b.failed() ? kNone : b.reshape(heads, dims(root()));
  }

  Pattern& p_;
  const Graph& g_;
  size_t rank_ = 0;
  ValueId query_ = kNone, key_ = kNone, value_ = kNone, mask_ = kNone, dropped_ = kNone;
  bool turned_ = true;  // key_ is [.., size, keys]
  double scale_ = 1, fill_ = -std::numeric_limits<double>::infinity();
  bool negated_ = false;  // the mask is true where nothing is seen
  int64_t causal_ = 0;
};

}  // namespace

bool match_attention(Pattern& p) {
  return AttentionMatch(p).run();
}

}  // namespace ge
