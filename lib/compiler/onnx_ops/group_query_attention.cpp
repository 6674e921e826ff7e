// GroupQueryAttention (com.microsoft): causal attention with a key-value cache, as language models are
// exported. seqlens_k tells, for each batch, the number of its last valid key; its new keys stand behind its
// earlier ones, wherever those of other batches end:
//   present[b] = past[b][0, length_b) then the new ones, length_b = seqlens_k[b] + 1 - sequence (0 where
//   nothing is past)
// query i of batch b attends to keys up to length_b + i, and no further back than local_window_size where
// that is given.
#include "compiler/onnx_ops/attention_parts.h"
#include "compiler/onnx_ops/rotary.h"

namespace ge {
namespace {

enum Input : size_t {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kLengths,
  kTotal,
  kCosine,
  kSine,
  kPositions,
  kBias,
  kSink
};

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(OpContext& c) : c_(c), b_(c.build()) {}

  Results run() {
    if (!read_attributes() || !read_operands() || !read_lengths() || !rotate()) return kNone;
    a_.key = with_past(kPastKey, a_.key);
    a_.value = with_past(kPastValue, a_.value);
    if (!read_mask()) return kNone;
    return std::vector<ValueId>{merge_heads(c_, attend(c_, a_)), a_.key, a_.value, kNone};
  }

 private:
  bool read_attributes() {
    heads_ = c_.int_attr("num_heads"), kv_heads_ = c_.int_attr("kv_num_heads");
    for (const char* name : {"num_heads", "kv_num_heads"})
      if (c_.int_attr(name) < 1)
        return c_.refuse(c_.about_attr(name, Code::bad_attribute, std::string(name) + " is not valid"),
                         "found " + std::to_string(c_.int_attr(name)) + ", allowed 1 and up");
    if (heads_ % kv_heads_ != 0)
      return c_.refuse(
          c_.about_attr("num_heads", Code::bad_attribute, "num_heads is no multiple of kv_num_heads"),
          "found " + std::to_string(heads_) + " and " + std::to_string(kv_heads_));
    for (const char* name : {"kv_cache_bit_width", "qk_output"})
      if (c_.int_attr(name) != 0)
        return c_.refuse(
            c_.about_attr(name, Code::unsupported_feature, std::string(name) + " is not supported"),
            "found " + std::to_string(c_.int_attr(name)) + ", allowed 0");
    for (const size_t input : {kLengths, kTotal})
      if (!c_.has(input))
        return c_.refuse(
            c_.about_node(Code::operand_count, "input '" + c_.op().input_name(input) + "' is required"),
            "found none");
    if (const double scale = c_.float_attr("scale"); scale != 0) a_.scale = scale;
    a_.softcap = c_.float_attr("softcap");
    return true;
  }

  // Query, key and value, or the three packed behind each other in the query.
  bool read_operands() {
    if (c_.rank(c_.in(kQuery)) != 3) return c_.refuse_input(kQuery, "[batch, sequence, hidden]");
    if (c_.has(kKey) != c_.has(kValue))
      return c_.refuse(c_.about_node(Code::operand_count, "key and value go together"), "found one of them");
    for (const size_t input : {kKey, kValue})
      if (c_.has(input) && c_.rank(c_.in(input)) != 3)
        return c_.refuse_input(input, "[batch, sequence, hidden]");
    const ValueId q = c_.in(kQuery);
    if (c_.has(kKey)) {
      a_.query = split_heads(c_, q, Dim(heads_), "num_heads");
      a_.key = split_heads(c_, c_.in(kKey), Dim(kv_heads_), "kv_num_heads");
      a_.value = split_heads(c_, c_.in(kValue), Dim(kv_heads_), "kv_num_heads");
    } else {
      const ValueId all = split_heads(c_, q, Dim(heads_ + 2 * kv_heads_), "num_heads");
      a_.query = c_.slice_axis(all, 1, Dim(0), Dim(heads_));
      a_.key = c_.slice_axis(all, 1, Dim(heads_), Dim(kv_heads_));
      a_.value = c_.slice_axis(all, 1, Dim(heads_ + kv_heads_), Dim(kv_heads_));
    }
    if (c_.failed()) return false;
    const Dims &qd = c_.dims(a_.query), &kd = c_.dims(a_.key), &vd = c_.dims(a_.value);
    c_.require_equal(kd[0], qd[0], "the batches of query and key differ");
    c_.require_equal(kd[2], qd[2], "query and key differ in length");
    c_.require_equal(vd[2], qd[2], "query and value differ in length");
    c_.require_equal(kd[3], qd[3], "heads of query and key differ in size");
    batch_ = qd[0], sequence_ = qd[2];
    return !c_.failed();
  }

  // What is past of each batch, [batch, 1, 1, 1], and how long the cache becomes.
  bool read_lengths() {
    if (c_.has(kPastKey) != c_.has(kPastValue))
      return c_.refuse(c_.about_node(Code::operand_count, "past_key and past_value go together"),
                       "found one of them");
    for (const size_t input : {kPastKey, kPastValue})
      if (c_.has(input) && c_.rank(c_.in(input)) != 4)
        return c_.refuse_input(input, "[batch, kv_num_heads, sequence, size]");
    const auto total = c_.contents(kTotal);
    if (!total) return false;
    if (total->size() != 1) return c_.refuse_input(kTotal, "one number");
    total_ = total->front();
    past_ = c_.has(kPastKey) ? c_.dims(c_.in(kPastKey))[2] : Dim(0);
    const auto excess = (total_ - past_).bounds(c_.graph().symbols);
    present_ = excess.min >= 0 ? total_ : Dim::max(total_, past_);
    c_.require_equal(product(c_.dims(c_.in(kLengths))), batch_, "seqlens_k needs a number for each batch");
    const ValueId last = b_.reshape(b_.cast(c_.in(kLengths), DType::int64), {batch_, 1, 1, 1});
    const ValueId before = b_.map(Op::sub, {last, c_.size_scalar(sequence_ - Dim(1))});
    const ValueId zero = c_.size_scalar(Dim(0));
    const ValueId is_first = b_.map(Op::equal, {c_.size_scalar(total_), c_.size_scalar(sequence_)});
    length_ = b_.map(Op::select, {is_first, zero, b_.map(Op::max, {before, zero})});
    return !c_.failed();
  }

  // Positions [batch, sequence] of the new elements.
  ValueId positions() {
    if (c_.has(kPositions)) return b_.broadcast(c_.in(kPositions), {batch_, sequence_});
    return b_.map(Op::add, {b_.reshape(length_, {batch_, 1}), c_.positions({1, sequence_}, 1)});
  }

  bool rotate() {
    if (c_.int_attr("do_rotary") == 0) return true;
    if (!c_.has(kCosine) || !c_.has(kSine))
      return c_.refuse(c_.about_node(Code::operand_count, "do_rotary needs cos_cache and sin_cache"),
                       "found none");
    const ValueId at = positions();
    ValueId angles[2];
    for (const size_t i : {0, 1}) {
      const ValueId cache = c_.in(kCosine + i);
      if (c_.rank(cache) != 2) return c_.refuse_input(kCosine + i, "[positions, half]");
      const ValueId rows = c_.failed() ? kNone : b_.op(Op::gather, {cache, at}, {{"axis", int64_t{0}}});
      if (c_.failed()) return false;
      angles[i] = b_.reshape(rows, {batch_, 1, sequence_, c_.dims(cache)[1]});
    }
    const RotaryPairs pairs{c_.dims(c_.in(kCosine))[1], c_.int_attr("rotary_interleaved") != 0};
    a_.query = rotate_pairs(c_, a_.query, angles[0], angles[1], pairs);
    a_.key = rotate_pairs(c_, a_.key, angles[0], angles[1], pairs);
    return !c_.failed();
  }

  // [batch, kv heads, present, size]: rows of the past and then the new ones, picked for each batch. What
  // neither has is the last new row: no query sees it.
  ValueId with_past(size_t input, ValueId fresh) {
    if (c_.failed()) return kNone;
    const ValueId all = c_.has(input) ? c_.concat({c_.in(input), fresh}, 2) : fresh;
    const Dim length = past_ + sequence_;
    // One batch has no padding: its keys end where the longest ends.
    if (batch_.is_value(1) && present_ == length && total_ == length) return all;
    const ValueId zero = c_.size_scalar(Dim(0)), target = c_.positions({1, 1, present_, 1}, 2);
    const ValueId step = b_.map(Op::sub, {target, length_});
    const ValueId last = c_.size_scalar(sequence_ - Dim(1));
    const ValueId from_new = b_.map(Op::add, {b_.map(Op::min, {step, last}), c_.size_scalar(past_)});
    const ValueId row = b_.map(Op::select, {b_.map(Op::less, {step, zero}), target, from_new});
    const Dims planes{batch_, Dim(kv_heads_), 1, 1};
    const ValueId plane =
        b_.map(Op::add, {b_.map(Op::mul, {c_.positions(planes, 0), c_.size_scalar(Dim(kv_heads_))}),
                         c_.positions(planes, 1)});
    const ValueId index = b_.map(Op::add, {b_.map(Op::mul, {plane, c_.size_scalar(length)}), row});
    if (c_.failed()) return kNone;
    const Dim size = c_.dims(all)[3];
    const ValueId rows = b_.reshape(all, {batch_ * Dim(kv_heads_) * length, size});
    return b_.op(Op::gather, {rows, b_.reshape(index, {batch_, Dim(kv_heads_), present_})},
                 {{"axis", int64_t{0}}});
  }

  bool read_mask() {
    if (c_.failed()) return false;
    const ValueId key = c_.positions({1, 1, 1, present_}, 3);
    const ValueId query = b_.map(Op::add, {length_, c_.positions({1, 1, sequence_, 1}, 2)});
    a_.allowed = b_.map(Op::less_equal, {key, query});
    if (const int64_t window = c_.int_attr("local_window_size"); window > 0) {
      const ValueId distance = b_.map(Op::sub, {query, key});
      a_.allowed =
          b_.map(Op::logical_and, {a_.allowed, b_.map(Op::less, {distance, c_.size_scalar(Dim(window))})});
    }
    if (c_.has(kBias)) {
      if (c_.rank(c_.in(kBias)) != 4)
        return c_.refuse_input(kBias, "[batch or 1, heads or 1, sequence, keys]");
      a_.bias = c_.in(kBias);
    }
    if (c_.has(kSink)) {
      c_.require_equal(product(c_.dims(c_.in(kSink))), Dim(heads_), "head_sink needs a number for each head");
      a_.sink = c_.in(kSink);
    } else if (c_.int_attr("smooth_softmax") > 0) {
      a_.sink = b_.broadcast(c_.scalar_like(a_.query, 0), {Dim(heads_)});
    }
    return !c_.failed();
  }

  OpContext& c_;
  Builder& b_;
  int64_t heads_ = 1, kv_heads_ = 1;
  Dim batch_, sequence_, past_, total_, present_;
  ValueId length_ = kNone;
  AttentionOperands a_;
};

}  // namespace

Results lower_group_query_attention(OpContext& c) {
  return GroupQueryAttention(c).run();
}

}  // namespace ge
