// What dot_wgmma's kernels receive, and what their tiles ask of a launch. Entry: DotWgmmaArgs,
// WgmmaTileShape. Sizes are those of out[m, n] = act(lhs[m, k] rhs[k, n] + bias[n] + residual[m, n]).
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

struct alignas(64) DotWgmmaArgs {
  struct alignas(64) Map {
    uint64_t words[16];
  } lhs, rhs;
  const void* bias;      // one a column; null: none
  const void* residual;  // null: none
  void* out;
  int64_t residual_step, out_step;  // elements between rows
  int64_t rhs_step;                 // 1: rhs is dense along n, otherwise along k
  int64_t rows, columns, depth;
  int64_t early;   // not 0: rhs may be read before the predecessor is done
  int64_t narrow;  // 1: the activation's error may reach 2^-16
  Activation activation;
};
static_assert(offsetof(DotWgmmaArgs, rhs) == 128 && offsetof(DotWgmmaArgs, bias) == 256 &&
              offsetof(DotWgmmaArgs, residual_step) == 280 && offsetof(DotWgmmaArgs, rows) == 304 &&
              offsetof(DotWgmmaArgs, early) == 328 && offsetof(DotWgmmaArgs, activation) == 344);

inline constexpr int kWgmmaDepth = 64;      // of a stage
inline constexpr int kWgmmaMinStages = 2;   // what the kernel is written for
inline constexpr int kWgmmaMaxStages = 16;  // more would find no use
inline constexpr int kWgmmaPartChunks =
    4;  // of 512 bytes: where a warp of a block alone puts what it writes at once
inline constexpr int kWgmmaBarrierBytes = (2 * kWgmmaMaxStages + 1) * 8;
inline constexpr int kWgmmaSharedBytes = 227 * 1024;  // most that a block may have

// A tile of rows x columns, by rows / 64 x across warpgroups.
struct WgmmaTileShape {
  int rows, columns, across;

  GE_HOST_DEVICE constexpr int group_columns() const { return columns / across; }
  GE_HOST_DEVICE constexpr int chunks() const { return group_columns() / 8; }
  GE_HOST_DEVICE constexpr int threads() const { return rows / 64 * across * 128; }  // that multiply
  // Where a thread's sums leave too few registers, those who copy are a warpgroup, which gives most of its
  // own away.
  GE_HOST_DEVICE constexpr bool trades() const { return chunks() * 4 > 64; }
  GE_HOST_DEVICE constexpr int block_threads() const { return threads() + (trades() ? 128 : 32); }
  // Of a right side that is dense along its columns: columns of one box.
  GE_HOST_DEVICE constexpr int width() const {
    return group_columns() % 64 == 0 ? 64 : group_columns() % 32 == 0 ? 32 : 16;
  }
  // Columns of a warpgroup that a block alone finishes at once.
  GE_HOST_DEVICE constexpr int part_columns() const {
    return group_columns() % 64 == 0 ? 64 : group_columns() % 48 == 0 ? 48 : 32;
  }
  GE_HOST_DEVICE constexpr int left_bytes() const { return rows * kWgmmaDepth * 2; }
  GE_HOST_DEVICE constexpr int stage_bytes() const { return left_bytes() + columns * kWgmmaDepth * 2; }
  // Chunks of a warpgroup that one of `split` blocks owns.
  GE_HOST_DEVICE constexpr int owned_chunks(int split) const { return (chunks() + split - 1) / split; }
  GE_HOST_DEVICE constexpr int slot_bytes(int split) const {
    return (split > 1 ? split * owned_chunks(split) : kWgmmaPartChunks) * threads() * 16;
  }
  GE_HOST_DEVICE constexpr int shared_bytes(int split, int stages) const {
    return stages * stage_bytes() + slot_bytes(split) + kWgmmaBarrierBytes;
  }
};

}  // namespace ge::kernels
