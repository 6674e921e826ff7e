// What the rows of attention share: tables and check. Entry: attention_operands, kAttentionAttrs,
// kAttentionArgs, check_attention.
#pragma once
#include <array>

#include "kernels/attention/attention.h"
#include "kernels/common/check.h"
#include "kernels/common/rows.h"

namespace ge::kernels {

constexpr std::array<OperandRow, 5> attention_operands(DTypeSet types) {
  return {{
      {.name = "q", .dtypes = types, .min_rank = 4, .max_rank = 4},
      {.name = "k", .dtypes = types, .min_rank = 4, .max_rank = 4},
      {.name = "v", .dtypes = types, .min_rank = 4, .max_rank = 4},
      {.name = "mask",
       .dtypes = types | DTypeSet{DType::boolean},
       .min_rank = 4,
       .max_rank = 4,
       .optional = true},
      {.name = "out", .role = OperandRole::kOut, .dtypes = types, .min_rank = 4, .max_rank = 4},
  }};
}
inline constexpr AttrRow kAttentionAttrs[] = {
    {.name = "causal", .min = 0, .max = 2},
    {.name = "fill", .type = AttrType::kFloat},
    {.name = "scale", .type = AttrType::kFloat},
    {.name = "zero_empty", .min = 0, .max = 1},
};
inline constexpr ArgRow kAttentionArgs[] = {
    view_arg(offsetof(AttentionArgs, q), 0),
    view_arg(offsetof(AttentionArgs, k), 1),
    view_arg(offsetof(AttentionArgs, v), 2),
    view_arg(offsetof(AttentionArgs, mask), 3),
    view_arg(offsetof(AttentionArgs, out), 4),
    float_arg(offsetof(AttentionArgs, scale), "scale"),
    float_arg(offsetof(AttentionArgs, fill), "fill"),
    int_arg(offsetof(AttentionArgs, causal), "causal"),
    int_arg(offsetof(AttentionArgs, zero_empty), "zero_empty"),
};
Status check_attention(const LaunchShape& shape);

// How many keys, from the first, row `i` of S reads of T.
inline int64_t keys_of_row(const AttentionArgs& args, int64_t i) {
  const int64_t keys = args.k.dims[2];
  if (args.causal == 0) return keys;
  const int64_t last = args.causal == 1 ? i + 1 : i + 1 + keys - args.q.dims[2];
  return last < 0 ? 0 : last < keys ? last : keys;
}

}  // namespace ge::kernels
