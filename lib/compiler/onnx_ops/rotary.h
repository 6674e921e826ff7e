// Turning pairs of elements by angles, which RotaryEmbedding and GroupQueryAttention share. Entry:
// rotate_pairs.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// How pairs lie along the last axis: (i, i + half), or (2i, 2i + 1) where interleaved. Elements beyond 2 *
// half stay.
struct RotaryPairs {
  Dim half;
  bool interleaved = false;
};

// first' = cos first - sin second, second' = sin first + cos second. x has rank 4; cosine and sine broadcast
// to x with `half` in place of its last dim.
ValueId rotate_pairs(OpContext& c, ValueId x, ValueId cosine, ValueId sine, const RotaryPairs& pairs);

}  // namespace ge
