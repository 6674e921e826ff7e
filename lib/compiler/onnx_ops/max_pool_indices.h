// The output Indices of MaxPool. Entry: max_pool_indices.
#pragma once
#include "compiler/onnx_ops/window.h"

namespace ge {

// int64 of the shape `out` (that of the values): the position of each maximum in the flattened input 0
// [N, C, spatial...], counted by storage_order within a plane. No padding counts. ONNX MaxPool, opset 12.
ValueId max_pool_indices(OpContext& c, const Window& window, const Dims& out);

}  // namespace ge
