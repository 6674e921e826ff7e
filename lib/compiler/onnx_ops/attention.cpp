// Attention (opset 23 on): one core attention; where the node asks for its scores, a softcap, or a softmax in
// float64, core dot, softmax and maps:
//   scores = Q scale . K'           key and value heads are broadcast over the query heads of their group
//   scores = softcap tanh(scores / softcap)
//   scores = where allowed: scores + mask, else -inf
//   Y = softmax(scores) . V         a row without an allowed key is 0
// The first stage of each formula is skipped where the node does not ask for it.
#include <limits>

#include "compiler/onnx_ops/attention_parts.h"

namespace ge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Attention {
 public:
  explicit Attention(OpContext& c) : c_(c), b_(c.build()) {}

  Results run() {
    if (!read_heads() || !read_cache()) return kNone;
    type_ = c_.dtype(q_);
    if (is_plain()) return whole();
    ValueId scores = raw_scores();
    keep(0, scores);
    scores = capped(c_, scores, c_.float_attr("softcap"));
    keep(1, scores);
    scores = masked(scores);
    keep(2, scores);
    const ValueId weights = b_.cast(probabilities(scores), type_);
    keep(3, weights);
    const ValueId y = c_.failed() ? kNone : weighted(weights);
    return std::vector<ValueId>{y, key_, value_, c_.failed() ? kNone : b_.cast(kept_, type_)};
  }

 private:
  // -- operands as [batch, heads, sequence, size] --
  bool read_heads() {
    const int64_t rank = c_.rank(c_.in(0));
    for (size_t i = 0; i < 3; ++i) {
      if ((rank == 3 || rank == 4) && c_.rank(c_.in(i)) == rank) continue;
      return c_.refuse(c_.about_input(i, Code::operand_rank, "Q, K and V must all have rank 3 or all rank 4"),
                       "found " + c_.describe(c_.in(i)));
    }
    flat_ = rank == 3;
    q_ = with_heads(0, "q_num_heads");
    key_ = with_heads(1, "kv_num_heads");
    value_ = with_heads(2, "kv_num_heads");
    if (c_.failed()) return false;
    if (c_.dtype(c_.in(0)) != c_.dtype(c_.in(2))) value_ = b_.cast(value_, c_.dtype(c_.in(0)));
    const Dims &q = c_.dims(q_), &k = c_.dims(key_), &v = c_.dims(value_);
    for (const Dims* other : {&k, &v})
      c_.require_equal((*other)[0], q[0], "the batches of Q, K and V differ");
    c_.require_equal(k[1], v[1], "K and V differ in heads");
    c_.require_equal(k[2], v[2], "K and V differ in length");
    c_.require_equal(k[3], q[3], "heads of Q and K differ in size");
    return !c_.failed() && fit_groups(q[1], k[1]);
  }

  // [batch, sequence, heads * size] or [batch, heads, sequence, size].
  ValueId with_heads(size_t input, const char* attribute) {
    const ValueId x = c_.in(input);
    if (c_.failed() || !flat_) return x;
    const Dims& dims = c_.dims(x);
    const int64_t heads = c_.int_attr(attribute);
    if (heads <= 0) {
      return c_.fail(c_.about_attr(attribute, heads == 0 ? Code::missing_attribute : Code::bad_attribute,
                                   std::string(attribute) + " is needed where inputs have rank 3")
                         .because("found " + std::to_string(heads)));
    }
    const auto size = OpContext::split(dims[2], heads);
    if (!size) {
      return c_.fail(
          c_.about_input(input, Code::shape_mismatch, "the last dim is no multiple of the heads")
              .because("found " + c_.describe(x) + " and " + attribute + " " + std::to_string(heads)));
    }
    return b_.transpose(b_.reshape(x, {dims[0], dims[1], Dim(heads), *size}), {0, 2, 1, 3});
  }

  bool fit_groups(const Dim& q_heads, const Dim& kv_heads) {
    const auto q = q_heads.value(), kv = kv_heads.value();
    if (q_heads == kv_heads || (q && kv && *kv != 0 && *q % *kv == 0)) return true;
    return c_.refuse(
        c_.about_input(0, Code::shape_mismatch, "the heads of Q are no multiple of those of K and V"),
        "found " + q_heads.to_string() + " and " + kv_heads.to_string());
  }

  // Earlier keys and values come before this call's.
  bool read_cache() {
    if (c_.has(4) != c_.has(5)) {
      return c_.refuse(c_.about_node(Code::operand_count, "past_key and past_value go together"),
                       "found one of them");
    }
    if (c_.has(4) && c_.has(6)) {
      return c_.refuse(c_.about_input(6, Code::operand_count, "nonpad_kv_seqlen does not go with past_key"),
                       "found both");
    }
    if (!c_.has(4)) return true;
    for (size_t i = 4; i < 6; ++i) {
      if (c_.rank(c_.in(i)) == 4) continue;
      return c_.refuse(
          c_.about_input(i, Code::operand_rank, "'" + c_.op().input_name(i) + "' must have rank 4"),
          "found " + c_.describe(c_.in(i)));
    }
    past_ = c_.dims(c_.in(4))[2];
    key_ = c_.concat({c_.in(4), key_}, 2);
    value_ = c_.concat({b_.cast(c_.in(5), c_.dtype(value_)), value_}, 2);
    return !c_.failed();
  }

  // -- in one --
  bool is_plain() {
    const auto asked = c_.asked_dtype("softmax_precision");
    const bool wider = asked && (!is_float(*asked) || (*asked == DType::float64 && type_ != DType::float64));
    return !c_.failed() && !c_.wants(3) && !(c_.float_attr("softcap") > 0) && !wider &&
           c_.int_attr("qk_matmul_output_mode") == 0 && (c_.has_attr("scale") || c_.dims(q_)[3].value());
  }

  Results whole() {
    const Dims &q = c_.dims(q_), &k = c_.dims(key_);
    const Dims scores{q[0], q[1], q[2], k[2]};
    const Masks masks = read_masks(scores, true);
    if (c_.failed()) return kNone;
    const auto asked = scale();
    AttrMap attrs{{"scale", asked ? *asked : default_scale(static_cast<double>(*q[3].value()))}};
    if (masks.causal != 0) attrs["causal"] = masks.causal;
    if (may_be_empty_) attrs["zero_empty"] = int64_t{1};
    std::vector<ValueId> operands{q_, key_, value_};
    if (masks.allowed != kNone) {
      const ValueId all = b_.broadcast(masks.allowed, scores);
      operands.push_back(
          masks.added == kNone
              ? all
              : b_.map(Op::select, {all, masks.added, c_.scalar_like(masks.added, -kInfinity)}));
    } else if (masks.added != kNone) {
      operands.push_back(masks.added);
    }
    ValueId y = b_.op(Op::attention, std::move(operands), std::move(attrs));
    if (c_.failed()) return kNone;
    const Dims dims = c_.dims(y);
    y = flat_ ? b_.reshape(y, {dims[0], dims[1], dims[2] * dims[3]}) : b_.transpose(y, {0, 2, 1, 3});
    return std::vector<ValueId>{y, key_, value_, kNone};
  }

  std::optional<double> scale() {
    return c_.has_attr("scale") ? std::optional(c_.float_attr("scale")) : std::nullopt;
  }

  ValueId raw_scores() {
    const ValueId query = scaled_query(c_, q_, scale());
    return b_.grouped_dot(query, b_.transpose(key_, {0, 1, 3, 2}));
  }

  // -- what a query may attend to --
  ValueId both(ValueId a, ValueId b) { return a == kNone ? b : b_.map(Op::logical_and, {a, b}); }

  // Where each query stands among the keys: after those before this call's.
  ValueId place(const Dims& plane, ValueId valid) {
    const ValueId row = c_.positions(plane, 0);
    if (valid == kNone) return b_.map(Op::add, {row, c_.size_scalar(past_)});
    const ValueId before = b_.map(Op::sub, {valid, c_.size_scalar(plane[0])});  // [batch, 1, 1, 1]
    return b_.map(Op::add, {row, before});
  }

  // Keys up to the query's own place.
  ValueId causal(const Dims& plane, ValueId valid) {
    return b_.map(Op::less_equal, {c_.positions(plane, 1), place(plane, valid)});
  }

  // From opset 25 on: at most so many keys to the left and to the right of that place; -1 is any number.
  ValueId window(const Dims& plane, ValueId valid) {
    ValueId allowed = kNone;
    for (const char* name : {"left_window_size", "right_window_size"}) {
      const int64_t size = c_.op().attribute(name) ? c_.int_attr(name) : -1;
      if (size < -1)
        c_.fail(c_.about_attr(name, Code::bad_attribute, std::string(name) + " must be -1 or more"));
      if (size < 0 || c_.failed()) continue;
      const bool left = name[0] == 'l';
      const ValueId edge = b_.map(left ? Op::sub : Op::add, {place(plane, valid), c_.size_scalar(Dim(size))});
      allowed =
          both(allowed, b_.map(left ? Op::greater_equal : Op::less_equal, {c_.positions(plane, 1), edge}));
      may_be_empty_ = true;
    }
    return allowed;
  }

  // The mask up to the last key: where it is shorter, nothing is attended to.
  ValueId whole_mask(const Dim& keys) {
    const ValueId mask = c_.in(3);
    if (c_.rank(mask) == 0 || c_.rank(mask) > 4) {
      return c_.fail(c_.about_input(3, Code::operand_rank, "'attn_mask' must have rank 1 to 4")
                         .because("found " + c_.describe(mask)));
    }
    const Dim& length = c_.dims(mask).back();
    const auto missing = (keys - length).value();
    const bool fits = !missing || *missing <= 0 || (length.is_value(1) && c_.version() < 24);
    if (fits) return mask;
    std::vector<int64_t> low(c_.dims(mask).size(), 0), high = low;
    high.back() = *missing;
    const bool boolean = is_bool(c_.dtype(mask));
    const ValueId outside = c_.scalar_like(mask, boolean ? 0 : -kInfinity);
    return b_.op(Op::pad, {mask, outside}, {{"low", low}, {"high", high}});
  }

  // The number of keys of each batch, [batch, 1, 1, 1]; no others are allowed.
  ValueId valid_keys(const Dims& scores, ValueId& allowed) {
    c_.require_equal(product(c_.dims(c_.in(6))), scores[0], "nonpad_kv_seqlen needs a number for each batch");
    const ValueId valid = b_.reshape(c_.in(6), {scores[0], 1, 1, 1});
    allowed = b_.map(Op::less, {c_.positions({scores[2], scores[3]}, 1), valid});
    may_be_empty_ = true;
    return valid;
  }

  // What a query may attend to, and what is added to its scores; kNone where all, where nothing.
  struct Masks {
    ValueId allowed = kNone, added = kNone;
    int64_t causal = 0;  // the attention op's, in place of a part of `allowed`
  };
  Masks read_masks(const Dims& scores, bool in_one) {
    const Dims plane{scores[2], scores[3]};
    Masks m;
    ValueId valid = kNone;
    if (c_.has(6)) valid = valid_keys(scores, m.allowed);
    if (c_.int_attr("is_causal") != 0) {
      if (in_one && valid == kNone && (past_.is_value(0) || plane[1] == past_ + plane[0]))
        m.causal = past_.is_value(0) ? 1 : 2;
      else
        m.allowed = both(m.allowed, causal(plane, valid));
    }
    if (const ValueId near = window(plane, valid); near != kNone) m.allowed = both(m.allowed, near);
    if (!c_.has(3)) return m;
    may_be_empty_ = true;
    const ValueId mask = whole_mask(scores[3]);
    if (c_.failed()) return m;
    if (is_bool(c_.dtype(mask)))
      m.allowed = both(m.allowed, mask);
    else
      m.added = b_.broadcast(b_.cast(mask, type_), scores);
    return m;
  }

  ValueId masked(ValueId scores) {
    if (c_.failed()) return kNone;
    const Dims dims = c_.dims(scores);
    const Masks masks = read_masks(dims, false);
    if (masks.added != kNone) scores = b_.map(Op::add, {scores, masks.added});
    if (masks.allowed == kNone || c_.failed()) return scores;
    return b_.map(Op::select,
                  {b_.broadcast(masks.allowed, dims), scores, c_.scalar_like(scores, -kInfinity)});
  }

  // A row of -inf alone has no softmax: its weights are 0.
  ValueId probabilities(ValueId scores) {
    if (c_.failed()) return kNone;
    if (const auto asked = c_.asked_dtype("softmax_precision")) {
      if (!is_float(*asked)) {
        return c_.fail(
            c_.about_attr("softmax_precision", Code::operand_dtype, "softmax_precision is no float dtype")
                .because("found " + std::string(name_of(*asked))));
      }
      scores = b_.cast(scores, *asked);
    }
    const ValueId weights = b_.op(Op::softmax, {scores}, {{"axis", int64_t{3}}});
    if (!may_be_empty_) return weights;
    const ValueId top = b_.reduce(scores, "max", {3}, true);
    const ValueId empty = b_.map(Op::equal, {top, c_.scalar_like(top, -kInfinity)});
    return b_.map(Op::select, {empty, c_.scalar_like(weights, 0), weights});
  }

  ValueId weighted(ValueId weights) {
    const ValueId y = b_.grouped_dot(weights, value_);
    return flat_ ? merge_heads(c_, y) : y;
  }

  // qk_matmul_output is what the scores are after stage `mode`.
  void keep(int64_t mode, ValueId scores) {
    if (mode == 0) {
      const int64_t asked = c_.int_attr("qk_matmul_output_mode");
      if (asked < 0 || asked > 3) {
        c_.refuse(
            c_.about_attr("qk_matmul_output_mode", Code::bad_attribute, "qk_matmul_output_mode is unknown"),
            "found " + std::to_string(asked) + "; allowed: 0 .. 3");
        return;
      }
    }
    if (mode == c_.int_attr("qk_matmul_output_mode")) kept_ = scores;
  }

  OpContext& c_;
  Builder& b_;
  bool flat_ = false;  // operands have rank 3
  ValueId q_ = kNone, key_ = kNone, value_ = kNone, kept_ = kNone;
  Dim past_;  // keys before this call's
  DType type_ = DType::float32;
  bool may_be_empty_ = false;  // a row may have no allowed key
};

}  // namespace

Results lower_attention(OpContext& c) {
  return Attention(c).run();
}

}  // namespace ge
