// What dot_stream's kernels receive, and what they ask of a launch. Entry: DotStreamArgs, StreamShape.
// Sizes are those of out[m, n] = act(lhs[m, k] rhs[k, n] + bias[n] + residual[m, n]).
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/common/activation_args.h"

#ifdef __CUDACC__
#define GE_HOST_DEVICE __host__ __device__
#else
#define GE_HOST_DEVICE
#endif

namespace ge::kernels {

struct DotStreamArgs {
  const void *lhs, *rhs;
  const void* bias;      // one a column; null: none
  const void* residual;  // null: none
  void* out;
  int64_t lhs_step, rhs_step, residual_step, out_step;  // elements between rows; of rhs: along its other axis
  int64_t rows, columns, depth;
  int64_t early;  // not 0: rhs may be read before the predecessor is done
  Activation activation;
};
static_assert(offsetof(DotStreamArgs, lhs_step) == 40 && offsetof(DotStreamArgs, rows) == 72 &&
              offsetof(DotStreamArgs, early) == 96 && offsetof(DotStreamArgs, activation) == 104);

inline constexpr int kStreamMaxSplit = 8;  // blocks of a cluster, which share a strip's depth
inline constexpr int kStreamLoads = 8;     // of 16 bytes, that a thread has under way

// How a block walks the right side. A strip is the columns that a block (or a cluster) computes.
struct StreamShape {
  int element_bytes;
  bool by_depth;  // rhs is dense along k, otherwise along n

  GE_HOST_DEVICE constexpr int vector() const { return 16 / element_bytes; }  // elements of one access
  GE_HOST_DEVICE constexpr int threads() const { return by_depth ? 256 : 512; }
  GE_HOST_DEVICE constexpr int across() const { return by_depth ? 1 : 8; }  // threads side by side
  GE_HOST_DEVICE constexpr int strip() const { return by_depth ? kStreamLoads : across() * vector(); }
  // Of the depth: what a thread takes at once, and what a block does.
  GE_HOST_DEVICE constexpr int group() const { return by_depth ? vector() : kStreamLoads; }
  GE_HOST_DEVICE constexpr int pass() const { return threads() / across() * group(); }
};

}  // namespace ge::kernels
