// scatter: out is data with updates put in: out[p, index(q), r] = updates[p, q, r] where p are data's axes
// before `axis`, q all of indices' axes, r data's axes after; with `elements`, where indices and updates have
// data's rank, out[p, index(p, q, r), r] = updates[p, q, r]. Entry: ScatterArgs, scatter_reference. With a
// reduction the update is combined with what is there, rounded each time. Updates of one element are applied
// in row-major order of q, on every device: the results are always the same bits. Indices as in gather; where
// the axis is empty nothing is written.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

enum class ScatterKind : int64_t { kNone = 0, kAdd, kMul, kMax, kMin };
inline constexpr int64_t kScatterKinds = 5;

struct ScatterArgs {
  TensorView data, indices, updates, out;
  int64_t axis = 0;
  int64_t elements = 0;  // 1: each update has an index of its own
  int64_t kind = 0;      // ScatterKind
  int64_t launch = 0;    // CUDA: the number and the block that a fault is noted by
  void* device_block = nullptr;
};
static_assert(offsetof(ScatterArgs, axis) == 576 && offsetof(ScatterArgs, elements) == 584 &&
              offsetof(ScatterArgs, kind) == 592 && offsetof(ScatterArgs, launch) == 600 &&
              offsetof(ScatterArgs, device_block) == 608 && sizeof(ScatterArgs) == 616);

}  // namespace ge::kernels
