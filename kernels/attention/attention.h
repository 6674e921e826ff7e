// attention: out[b, i, h] = sum_j p[j] v[b, h / n, j] with p = softmax over j of scale q[b, h, i] . k[b, h /
// n, j] + mask[b, h, i, j], n = H / G query heads to a key head. Entry: AttentionArgs; rows attention_*. Any
// strides: heads of a packed projection are read in place, and out's heads lie side by side, as the next
// product reads them. A bool mask puts `fill` where it is false. causal 1: keys j <= i count, 2: j <= i + T -
// S; the others are -inf (and may be left unread: an infinite v does not show there). A row of -inf alone is
// NaN, or 0 with zero_empty; without keys (T = 0) it is 0.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct AttentionArgs {
  TensorView q;     // [B, H, S, D]
  TensorView k;     // [B, G, T, D]
  TensorView v;     // [B, G, T, E]
  TensorView mask;  // [B, H, S, T], optional; q's dtype or bool
  TensorView out;   // [B, S, H, E]
  double scale, fill;
  int64_t causal, zero_empty;
};
static_assert(offsetof(AttentionArgs, out) == 4 * 144 && offsetof(AttentionArgs, scale) == 720 &&
              sizeof(AttentionArgs) == 752);

}  // namespace ge::kernels
