// What the attention operators share: the formula on [batch, heads, sequence, size], and its parts. Entry:
// attend.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

struct AttentionOperands {
  ValueId query = kNone, key = kNone,
          value = kNone;        // key and value may have fewer heads: each serves a group of the query's
  std::optional<double> scale;  // absent: 1 / sqrt(size)
  double softcap = 0;           // where positive: scores = softcap tanh(scores / softcap)
  ValueId bias = kNone;         // added to the scores, which it broadcasts to
  ValueId allowed = kNone;      // bool, broadcasts to the scores: elsewhere they are -inf
  ValueId sink = kNone;  // one score for each query head, that takes its part of the softmax and has no value
};

// 1 / sqrt(head_size), and 1 of heads without elements.
double default_scale(double head_size);
// The query is scaled before the product, so that float16 does not overflow in it.
ValueId scaled_query(OpContext& c, ValueId query, std::optional<double> scale);
// cap tanh(scores / cap); the scores themselves where cap is not positive.
ValueId capped(OpContext& c, ValueId scores, double cap);

// softmax(query key' scale + bias) value. A row must have an allowed key, or a sink.
ValueId attend(OpContext& c, const AttentionOperands& operands);

// [batch, sequence, heads * size] as [batch, heads, sequence, size] and back. The last dim must be divisible:
// bad_attribute at `attribute`.
ValueId split_heads(OpContext& c, ValueId x, const Dim& heads, std::string_view attribute);
ValueId merge_heads(OpContext& c, ValueId x);

}  // namespace ge
