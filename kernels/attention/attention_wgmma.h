// What attention_wgmma's kernels receive, and what they ask of a launch. Entry: AttentionWgmmaArgs,
// AttentionWgmmaShape. Sizes as in attention.h; there is no mask.
#pragma once
#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define GE_HOST_DEVICE __host__ __device__
#else
#define GE_HOST_DEVICE
#endif

namespace ge::kernels {

struct alignas(64) AttentionWgmmaArgs {
  struct alignas(64) Map {
    uint64_t words[16];
  } q, k, v;  // [B, H, S, D], [B, G, T, D], [B, G, T, E], boxes of 64 rows and 64 columns
  void* out;  // [B, S, H, E]
  int64_t out_batch_step, out_row_step, out_head_step;  // elements
  int64_t batches, heads, rows;                         // B, H, S
  int64_t key_heads, keys;                              // G, T
  int64_t width;                                        // E
  double scale;
  int64_t causal, zero_empty;
};
static_assert(offsetof(AttentionWgmmaArgs, out) == 384 && offsetof(AttentionWgmmaArgs, batches) == 416 &&
              offsetof(AttentionWgmmaArgs, scale) == 464 && offsetof(AttentionWgmmaArgs, zero_empty) == 480);

inline constexpr int kAttentionBox = 64;    // rows and columns of a box
inline constexpr int kAttentionStages = 4;  // tiles of keys and values on the way
inline constexpr int kAttentionThreads = 256;

// Of heads up to `head`, a multiple of 64.
struct AttentionWgmmaShape {
  int head;
  // Of 128 queries; where they are fewer, both warpgroups take the same 64. Where they cross on an H200: at
  // 128 tiles halves are a little better for heads of 64 and a quarter slower beyond.
  GE_HOST_DEVICE constexpr int enough_tiles() const { return head > 64 ? 100 : 132; }
  GE_HOST_DEVICE constexpr int tile_bytes() const { return kAttentionBox * head * 2; }
  GE_HOST_DEVICE constexpr int stage_bytes() const { return 2 * tile_bytes(); }
  GE_HOST_DEVICE constexpr int barriers() const { return 1 + 2 * kAttentionStages; }
  GE_HOST_DEVICE constexpr int shared_bytes() const {
    return 2 * tile_bytes() + kAttentionStages * stage_bytes() + barriers() * 8;
  }
};

}  // namespace ge::kernels
