// The formula of attention on [batch, heads, sequence, size], which the attention operators share. Entry:
// attend.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

struct AttentionOperands {
  ValueId query = kNone, key = kNone,
          value = kNone;    // key and value may have fewer heads: each serves a group of the query's
  double scale = 0;         // 0: 1 / sqrt(size)
  double softcap = 0;       // where positive: scores = softcap tanh(scores / softcap)
  ValueId bias = kNone;     // added to the scores, which it broadcasts to
  ValueId allowed = kNone;  // bool, broadcasts to the scores: elsewhere they are -inf
  ValueId sink = kNone;  // one score for each query head, that takes its part of the softmax and has no value
};

// softmax(query key' scale + bias) value. A row must have an allowed key, or a sink.
ValueId attend(OpContext& c, const AttentionOperands& operands);

// [batch, sequence, heads * size] as [batch, heads, sequence, size] and back. The last dim must be divisible:
// bad_attribute at `attribute`.
ValueId split_heads(OpContext& c, ValueId x, const Dim& heads, std::string_view attribute);
ValueId merge_heads(OpContext& c, ValueId x);

// left [batch, heads, rows, depth] x right [batch, groups, depth, columns], where each right matrix serves
// heads / groups left ones.
ValueId grouped_dot(OpContext& c, ValueId left, ValueId right);

}  // namespace ge
