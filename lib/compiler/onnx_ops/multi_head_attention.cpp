// MultiHeadAttention (com.microsoft): softmax(Q K' scale + masks) V. Q, K and V come as three tensors, or
// packed into one or two; a bias may be added to each, and earlier keys and values may come before them.
#include "compiler/onnx_ops/attention_parts.h"

namespace ge {
namespace {

enum Input : size_t {
  kQuery,
  kKey,
  kValue,
  kBias,
  kPaddingMask,
  kAttentionBias,
  kPastKey,
  kPastValue,
  kPastLength,
  kIndirection
};

class MultiHeadAttention {
 public:
  explicit MultiHeadAttention(OpContext& c) : c_(c), b_(c.build()) {}

  Results run() {
    if (!read_attributes() || !read_operands() || !read_past()) return kNone;
    const ValueId y = attend(c_, a_);
    return std::vector<ValueId>{merge_heads(c_, y), a_.key, a_.value, kNone};
  }

 private:
  bool read_attributes() {
    heads_ = c_.int_attr("num_heads");
    if (heads_ < 1)
      return c_.refuse(c_.about_attr("num_heads", Code::bad_attribute, "num_heads is not valid"),
                       "found " + std::to_string(heads_) + ", allowed 1 and up");
    for (const size_t input : {kPastLength, kIndirection})
      if (c_.has(input))
        return c_.refuse(
            c_.about_input(input, Code::unsupported_feature,
                           "'" + c_.op().input_name(input) + "' is for beam search, which is not supported"),
            "found " + c_.describe(c_.in(input)));
    if (const double scale = c_.float_attr("scale"); scale != 0) a_.scale = scale;
    return true;
  }

  // [batch, sequence, heads, n, size]: part i of n packed ones as [batch, heads, sequence, size].
  ValueId unpacked_part(ValueId packed, int64_t i) {
    const ValueId part = c_.slice_axis(packed, 3, Dim(i), Dim(1));
    if (c_.failed()) return kNone;
    const Dims dims = c_.dims(part);
    return b_.transpose(b_.reshape(part, {dims[0], dims[1], dims[2], dims[4]}), {0, 2, 1, 3});
  }

  bool is_packed(size_t input, int64_t parts) {
    const ValueId x = c_.in(input);
    return c_.rank(x) == 5 && c_.dims(x)[2].is_value(heads_) && c_.dims(x)[3].is_value(parts);
  }

  bool read_operands() {
    const ValueId q = c_.in(kQuery), k = c_.in(kKey), v = c_.in(kValue);
    const bool only_query = k == kNone && v == kNone, query_and_key = k != kNone && v == kNone;
    if (only_query) {
      if (!is_packed(kQuery, 3))
        return c_.refuse_input(kQuery, "[batch, sequence, num_heads, 3, size] without a key");
      if (!no_bias()) return false;
      a_.query = unpacked_part(q, 0), a_.key = unpacked_part(q, 1), a_.value = unpacked_part(q, 2);
      return !c_.failed();
    }
    if (c_.rank(q) != 3) return c_.refuse_input(kQuery, "[batch, sequence, hidden] beside a key");
    if (query_and_key) {
      if (!is_packed(kKey, 2))
        return c_.refuse_input(kKey, "[batch, sequence, num_heads, 2, size] without a value");
      if (!no_bias()) return false;
      a_.key = unpacked_part(k, 0), a_.value = unpacked_part(k, 1);
    } else if (k != kNone && c_.rank(k) == 4 && c_.rank(v) == 4) {
      a_.key = k, a_.value = v;
    } else if (k != kNone && c_.rank(k) == 3 && c_.rank(v) == 3) {
      a_.key = split_heads(c_, biased(k, c_.dims(q)[2], c_.dims(k)[2]), Dim(heads_), "num_heads");
      a_.value =
          split_heads(c_, biased(v, c_.dims(q)[2] + c_.dims(k)[2], c_.dims(v)[2]), Dim(heads_), "num_heads");
    } else {
      return c_.refuse_input(kValue,
                             "[batch, sequence, hidden] or [batch, num_heads, sequence, size], as the key");
    }
    a_.query = split_heads(c_, biased(q, Dim(0), c_.dims(q)[2]), Dim(heads_), "num_heads");
    return !c_.failed();
  }

  bool no_bias() {
    return !c_.has(kBias) ||
           c_.refuse(c_.about_input(kBias, Code::unsupported_feature, "packed operands take no bias"),
                     "found " + c_.describe(c_.in(kBias)));
  }

  // x + bias[from, from + count).
  ValueId biased(ValueId x, const Dim& from, const Dim& count) {
    if (!c_.has(kBias) || c_.failed()) return x;
    if (c_.rank(c_.in(kBias)) != 1) {
      c_.refuse_input(kBias, "a vector: those of Q, K and V behind each other");
      return kNone;
    }
    const ValueId part = c_.slice_axis(c_.in(kBias), 0, from, count);
    return c_.failed() ? kNone : b_.map(Op::add, {x, b_.broadcast(part, c_.dims(x))});
  }

  bool read_past() {
    if (c_.has(kPastKey) != c_.has(kPastValue))
      return c_.refuse(c_.about_node(Code::operand_count, "past_key and past_value go together"),
                       "found one of them");
    if (c_.has(kPastKey)) {
      for (const size_t input : {kPastKey, kPastValue})
        if (c_.rank(c_.in(input)) != 4) return c_.refuse_input(input, "[batch, num_heads, sequence, size]");
      past_ = c_.dims(c_.in(kPastKey))[2];
      a_.key = c_.concat({c_.in(kPastKey), a_.key}, 2);
      a_.value = c_.concat({c_.in(kPastValue), a_.value}, 2);
    }
    if (c_.failed()) return false;
    const Dims &q = c_.dims(a_.query), &k = c_.dims(a_.key), &v = c_.dims(a_.value);
    c_.require_equal(k[0], q[0], "the batches of query and key differ");
    c_.require_equal(k[2], v[2], "key and value differ in length");
    c_.require_equal(k[3], q[3], "heads of query and key differ in size");
    c_.require_equal(k[1], q[1], "the heads of query and key differ");
    return !c_.failed() && read_bias() && read_causal();
  }

  bool read_bias() {
    if (c_.has(kPaddingMask)) a_.bias = padding();
    if (!c_.has(kAttentionBias) || c_.failed()) return !c_.failed();
    if (c_.rank(c_.in(kAttentionBias)) != 4)
      return c_.refuse_input(kAttentionBias, "[batch or 1, num_heads or 1, sequence, keys]");
    a_.bias = a_.bias == kNone ? c_.in(kAttentionBias) : b_.map(Op::add, {a_.bias, c_.in(kAttentionBias)});
    return !c_.failed();
  }

  // mask_filter_value where a key is padding, else 0: the mask tells the keys of each batch, of each query,
  // or their number.
  ValueId padding() {
    const ValueId mask = c_.in(kPaddingMask);
    const Dims &dims = c_.dims(mask), &q = c_.dims(a_.query);
    const Dim batch = q[0], keys = c_.dims(a_.key)[2];
    ValueId valid = kNone;
    if (dims.size() == 1 && !Dim::never_equal(dims[0], batch)) {
      valid = b_.map(Op::less, {c_.positions({1, 1, 1, keys}, 3),
                                b_.cast(b_.reshape(mask, {batch, 1, 1, 1}), DType::int64)});
    } else if (dims.size() == 2 || dims.size() == 3) {
      Dims shape{dims[0], Dim(1), dims.size() == 3 ? dims[1] : Dim(1), dims.back()};
      valid = b_.map(Op::greater, {b_.reshape(mask, shape), c_.scalar_like(mask, 0)});
    } else {
      c_.refuse_input(kPaddingMask, "[batch], [batch, keys] or [batch, sequence, keys]");
      return kNone;
    }
    const ValueId outside = c_.scalar_like(a_.query, c_.float_attr("mask_filter_value"));
    return b_.map(Op::select, {valid, c_.scalar_like(a_.query, 0), outside});
  }

  // Key j for query i where j <= i + the number of keys before this call's.
  bool read_causal() {
    if (c_.int_attr("unidirectional") == 0) return true;
    const Dims plane{c_.dims(a_.query)[2], c_.dims(a_.key)[2]};
    const ValueId last = b_.map(Op::add, {c_.positions(plane, 0), c_.size_scalar(past_)});
    a_.allowed = b_.map(Op::less_equal, {c_.positions(plane, 1), last});
    return !c_.failed();
  }

  OpContext& c_;
  Builder& b_;
  int64_t heads_ = 1;
  Dim past_;
  AttentionOperands a_;
};

}  // namespace

Results lower_multi_head_attention(OpContext& c) {
  return MultiHeadAttention(c).run();
}

}  // namespace ge
