// out = softmax(scale q k') v on Hopper's warpgroup matrix units, 16-bit elements, heads up to kHead; no
// mask. Entry: attention_wgmma<T, kHead>. Two warpgroups; tiles of 64 keys and their values through a ring of
// stages. Where there are tiles enough each warpgroup has 64 queries of 128, else both have the same 64 and
// take every other tile of keys; their results are added at the end, each finishes half of the columns. While
// a warpgroup's exponentials are computed its last product with values runs.
//
// Barriers. queries: one arrival a tile of queries. full[s]: one arrival a round, of the copying thread, with
// the bytes of keys and values. empty[s]: one arrival a round of each warp that reads the stage, once its
// products are done. Between two tiles of queries all threads meet.
#pragma once
#include "kernels/attention/attention_device.cuh"
#include "kernels/attention/attention_wgmma.h"
#include "kernels/device/wgmma_registers.cuh"

#ifdef GE_SM90A

namespace ge::kernels {

// As copy_tile, of a tensor of four axes; x counts along the dense one.
__device__ __forceinline__ void copy_box(unsigned to, const AttentionWgmmaArgs::Map& map, int x, int row,
                                         int head, int batch, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
      "%5}], [%6];" ::"r"(to),
      "l"(&map), "r"(x), "r"(row), "r"(head), "r"(batch), "r"(barrier)
      : "memory");
}

template <class T, int kHead>
struct AttentionWgmma {
  static constexpr AttentionWgmmaShape kShape{kHead};
  static constexpr int kBoxes = kHead / 64, kBoxBytes = kAttentionBox * 128;
  static constexpr int kTileBytes = kShape.tile_bytes(), kStageBytes = kShape.stage_bytes();
  static constexpr int kScores = 32, kOut = kHead / 2;  // floats of a thread

  const AttentionWgmmaArgs& args;
  unsigned base;  // of shared memory: queries, stages, barriers
  bool split;     // both warpgroups have the same queries
  int items, tile_rows;

  __device__ __forceinline__ unsigned stage_at(int place) const {
    return base + 2 * kTileBytes + place % kAttentionStages * kStageBytes;
  }
  __device__ __forceinline__ unsigned barriers() const {
    return base + 2 * kTileBytes + kAttentionStages * kStageBytes;
  }
  __device__ __forceinline__ unsigned queries() const { return barriers(); }
  __device__ __forceinline__ unsigned full(int place) const {
    return barriers() + 8 + place % kAttentionStages * 8;
  }
  __device__ __forceinline__ unsigned empty(int place) const { return full(place) + kAttentionStages * 8; }
  static __device__ __forceinline__ unsigned parity(int place) { return place / kAttentionStages & 1; }

  __device__ __forceinline__ AttentionWork work_of(int item) const {
    return {args.rows, args.heads, args.keys, args.causal, item, tile_rows};
  }
  __device__ __forceinline__ int seen_by(const AttentionWork& work, int row) const {
    return work.seen_by(args.causal, row, static_cast<int>(args.keys));
  }
  static __device__ __forceinline__ int tiles_of(int keys) {
    return (keys + kAttentionBox - 1) / kAttentionBox;
  }

  __device__ __forceinline__ AttentionWgmma(const AttentionWgmmaArgs& a, unsigned char* memory)
      : args(a), base(shared_address(memory)) {
    const int heads = static_cast<int>(args.batches * args.heads), rows = static_cast<int>(args.rows);
    const int large = (rows + 127) / 128 * heads;
    split = large < kShape.enough_tiles();
    tile_rows = split ? 64 : 128;
    items = split ? (rows + 63) / 64 * heads : large;
  }

  // -- copies, by one thread: thread 0 those that fill the ring; the first of the second warpgroup, or of
  // each where both have own tiles, the others --
  __device__ __forceinline__ bool leads() const {
    return (threadIdx.x & 127) == 0 && (split || threadIdx.x != 0);
  }
  __device__ __forceinline__ void copy_tiles(unsigned to, const AttentionWgmmaArgs::Map& map, int row,
                                             int head, int batch, unsigned barrier) const {
#pragma unroll
    for (int b = 0; b < kBoxes; ++b) copy_box(to + b * kBoxBytes, map, b * 64, row, head, batch, barrier);
  }
  __device__ __forceinline__ void bring_queries(const AttentionWork& work) const {
    barrier_expect(queries(), (split ? 1 : 2) * kTileBytes);
    copy_tiles(base, args.q, work.row0, work.head, work.batch, queries());
    if (!split) copy_tiles(base + kTileBytes, args.q, work.row0 + 64, work.head, work.batch, queries());
  }
  __device__ __forceinline__ void bring(const AttentionWork& work, int head, int tile, int place) const {
    barrier_expect(full(place), kStageBytes);
    copy_tiles(stage_at(place), args.k, tile * 64, head, work.batch, full(place));
    copy_tiles(stage_at(place) + kTileBytes, args.v, tile * 64, head, work.batch, full(place));
  }
  __device__ __forceinline__ void bring_first(const AttentionWork& work, int head, int tiles,
                                              int place) const {
    bring_queries(work);
#pragma unroll 1
    for (int tile = 0; tile < tiles && tile < kAttentionStages; ++tile) bring(work, head, tile, place + tile);
  }
  // Into the stage of a tile that is not read any more, or soon: with shared tiles the one before, so that
  // nobody waits for the other warpgroup.
  __device__ __forceinline__ void bring_next(const AttentionWork& work, int head, int last, int tiles,
                                             int place) const {
    const int freed = split ? last : last - 1;
    if (leads() && freed >= 0 && freed + kAttentionStages < tiles) {
      barrier_wait(empty(place + freed), parity(place + freed));
      bring(work, head, freed + kAttentionStages, place + freed + kAttentionStages);
    }
    __syncwarp();
  }

  // -- the warpgroups that multiply --
  // The same in a whole warp, and known to be.
  static __device__ __forceinline__ int group() {
    return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) >> 7, 0);
  }
  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) & 31;
  }
  static __device__ __forceinline__ int group_row() {  // this thread's first row of the warpgroup's
    return (static_cast<int>(threadIdx.x) & 127) / 32 * 16 + lane() / 4;
  }

  __device__ __forceinline__ void score(float (&s)[kScores], unsigned query, int place) const {
    barrier_wait(full(place), parity(place));
    const unsigned key = stage_at(place);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < kHead / 16; ++step) {
      const unsigned at = step / 4 * kBoxBytes + step % 4 * 32;
      const unsigned long long left = side_at(kSideOfDepth, query + at),
                               right = side_at(kSideOfDepth, key + at);
      if (step == 0)
        WgmmaOf<T, 64>::fresh(s, left, right);
      else
        Wgmma<T, 64, false>::multiply(s, left, right);
    }
    wgmma_commit();
  }
  __device__ __forceinline__ void mix(float (&out)[kOut], const unsigned (&p)[4][4], int place) const {
    const unsigned value = stage_at(place) + kTileBytes;
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < 4; ++step)
      WgmmaOf<T, kHead>::add(out, p[step], side_at(kSideOfColumns<64>, value + step * 2048));
    wgmma_commit();
  }
  __device__ __forceinline__ void release(int place) const {
    if (lane() == 0) barrier_arrive(empty(place));
  }

  struct Rows {
    float top[2], sum[2];  // of rows group_row() and the one 8 below; sums of this thread's columns
    int seen[2];           // keys
    int all;               // that every row of the warpgroup sees
  };
  // -inf past the last key of a row.
  static __device__ __forceinline__ void mask(const Rows& rows, int key0, float (&s)[kScores]) {
    if (key0 + kAttentionBox <= rows.all) return;
    const int key = key0 + (lane() & 3) * 2;
#pragma unroll
    for (int i = 0; i < kScores; ++i)
      if (key + i / 4 * 8 + i % 2 >= rows.seen[i / 2 % 2]) s[i] = minus_infinity();
  }
  // Scores become exponentials under the rows' new maximum. old: what results so far are worth.
  static __device__ __forceinline__ void advance(Rows& rows, float factor, float (&s)[kScores],
                                                 float (&old)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most[4] = {rows.top[half], minus_infinity(), minus_infinity(), minus_infinity()};
#pragma unroll
      for (int i = 2 * half; i < kScores; i += 4)
        most[i / 4 % 4] = fmaxf(most[i / 4 % 4], fmaxf(s[i], s[i + 1]));
      float now = fmaxf(fmaxf(most[0], most[1]), fmaxf(most[2], most[3]));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 1));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 2));
      const float shift = now == minus_infinity() ? 0.0f : now * factor;
      old[half] = exp2_approx(fmaf(rows.top[half], factor, -shift));
      rows.top[half] = now;
      float more[2] = {0, 0};
#pragma unroll
      for (int i = 2 * half; i < kScores; i += 4) {
        s[i] = exp2_approx(fmaf(s[i], factor, -shift));
        s[i + 1] = exp2_approx(fmaf(s[i + 1], factor, -shift));
        more[i / 4 % 2] += s[i] + s[i + 1];
      }
      rows.sum[half] = rows.sum[half] * old[half] + (more[0] + more[1]);
    }
  }
  static __device__ __forceinline__ void pack(const float (&s)[kScores], unsigned (&p)[4][4]) {
#pragma unroll
    for (int i = 0; i < 16; ++i) p[i / 4][i % 4] = pack_pair<T>(s[2 * i], s[2 * i + 1]);
  }
  static __device__ __forceinline__ void weaken(float (&out)[kOut], const float (&old)[2]) {
#pragma unroll
    for (int i = 0; i < kOut; ++i) out[i] *= old[i / 2 % 2];
  }

  // Tiles first, first + step, ... of `tiles`, which stand in the ring from `place` on.
  __device__ __forceinline__ void attend(const AttentionWork& work, int key_head, float (&out)[kOut],
                                         Rows& rows, int first, int step, int tiles, int place) const {
    const unsigned query = base + (split ? 0 : group() * kTileBytes);
    float factor = static_cast<float>(args.scale) * kLog2e;
    const bool plain = factor > 0 && factor < -minus_infinity();
    const float fused = plain ? factor : 1.0f;
    float s[kScores], old[2];
    unsigned p[4][4];
    const auto finish_scores = [&](int tile) {
      if (!plain) {
#pragma unroll
        for (int i = 0; i < kScores; ++i) s[i] *= factor;
      }
      mask(rows, tile * kAttentionBox, s);
      advance(rows, fused, s, old);
    };
    score(s, query, place + first);
    wgmma_wait<0>();
    wgmma_results(s);
    finish_scores(first);
    pack(s, p);
    int last = first;
#pragma unroll 1
    for (int tile = first + step; tile < tiles; tile += step) {
      score(s, query, place + tile);
      mix(out, p, place + last);
      wgmma_wait<1>();
      wgmma_results(s);
      finish_scores(tile);
      // Never: no sum is negative. What hangs on the exponentials keeps them before the wait.
      if (rows.sum[0] + rows.sum[1] < 0) barrier_arrive(queries());
      wgmma_wait<0>();
      wgmma_results(out);
      wgmma_results(s);
      release(place + last);
      weaken(out, old);
      pack(s, p);
      bring_next(work, key_head, last, tiles, place);
      last = tile;
    }
    mix(out, p, place + last);
    wgmma_wait<0>();
    wgmma_results(out);
    release(place + last);
  }

  // Each warpgroup gives the half of the columns that the other one finishes, and gets what the other has of
  // its own: out[0 .. kOut / 2) then are the sums of both.
  __device__ __forceinline__ void exchange(float (&out)[kOut], Rows& rows) const {
    float* const memory = reinterpret_cast<float*>(__cvta_shared_to_generic(base));
    const bool second = group() != 0;
    float* const mine = memory + threadIdx.x;
    const float* const theirs = memory + (threadIdx.x ^ 128);
    meet();  // nobody reads queries, keys or values any more
#pragma unroll
    for (int i = 0; i < kOut / 2; ++i) mine[i * 256] = second ? out[i] : out[kOut / 2 + i];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      mine[(kOut / 2 + half) * 256] = rows.top[half];
      mine[(kOut / 2 + 2 + half) * 256] = rows.sum[half];
    }
    meet();
    const float f = fused_factor();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float top2 = theirs[(kOut / 2 + half) * 256], now = fmaxf(rows.top[half], top2);
      const float shift = now == minus_infinity() ? 0.0f : now * f;
      const float a = exp2_approx(fmaf(rows.top[half], f, -shift)), b = exp2_approx(fmaf(top2, f, -shift));
      // Both warpgroups add in the same order.
      const float sum1 = rows.sum[half] * a, sum2 = theirs[(kOut / 2 + 2 + half) * 256] * b;
      rows.sum[half] = sum1 + sum2;
#pragma unroll
      for (int i = 2 * half; i < kOut / 2; i += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
          out[i + e] = (second ? out[kOut / 2 + i + e] : out[i + e]) * a + theirs[(i + e) * 256] * b;
      }
    }
  }
  __device__ __forceinline__ float fused_factor() const {
    const float factor = static_cast<float>(args.scale) * kLog2e;
    return factor > 0 && factor < -minus_infinity() ? factor : 1.0f;
  }
  static __device__ __forceinline__ void meet() {
    asm volatile("bar.sync 1, %0;" ::"n"(kAttentionThreads) : "memory");
  }

  // Rows over their sums. The four threads of a row trade pairs so that each has 8 neighbours of a chunk:
  // thread t chunk t of every four.
  __device__ __forceinline__ void write(const AttentionWork& work, const float (&out)[kOut],
                                        Rows& rows) const {
    const int count = split ? kOut / 8 : kOut / 4;  // chunks of 8 columns of a row
    const int column0 = split ? group() * (kHead / 2) : 0;
    const int width = static_cast<int>(args.width), t = lane() & 3;
    const int row = (split ? 0 : group() * 64) + group_row();
    T* const to = static_cast<T*>(args.out) + work.batch * args.out_batch_step +
                  work.head * args.out_head_step + (work.row0 + row) * args.out_row_step;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = rows.sum[half];
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      const bool zero = total == 0 && (args.zero_empty != 0 || args.keys == 0);
      const float factor = 1.0f / total;  // 0 / 0 and 0 * inf: NaN
      const bool there = row + 8 * half < work.rows;
#pragma unroll
      for (int chunk = 0; chunk < kOut / 4; chunk += 4) {
        if (chunk >= count) break;
        unsigned w[4];  // of chunk + i, this thread's columns
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int at = (chunk + i) * 4 + half * 2;
          // Not out * 0 where the row sees no key: a value that is masked may be infinite.
          w[i] = zero ? 0 : pack_pair<T>(out[at] * factor, out[at + 1] * factor);
        }
        transpose(w, t);
        const int column = column0 + (chunk + t) * 8;
        if (there && column < width)
          *reinterpret_cast<uint4*>(to + 8 * half * args.out_row_step + column) = {w[0], w[1], w[2], w[3]};
      }
    }
  }
  // Word i of thread t goes to word t of thread i, among four threads.
  static __device__ __forceinline__ void transpose(unsigned (&w)[4], int t) {
    const bool odd = (t & 1) != 0, high = (t & 2) != 0;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const unsigned got = __shfl_xor_sync(0xffffffffu, odd ? w[i] : w[i + 1], 1);
      if (odd)
        w[i] = got;
      else
        w[i + 1] = got;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned got = __shfl_xor_sync(0xffffffffu, high ? w[i] : w[i + 2], 2);
      if (high)
        w[i] = got;
      else
        w[i + 2] = got;
    }
  }

  __device__ __forceinline__ void multiply_all() const {
    const int shared_by = static_cast<int>(args.heads) / static_cast<int>(args.key_heads);
    int place = 0;
    unsigned round = 0;
#pragma unroll 1
    for (int item = static_cast<int>(blockIdx.x); item < items; item += static_cast<int>(gridDim.x)) {
      if (round != 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // of what exchange() wrote
        __syncthreads();
      }
      const AttentionWork work = work_of(item);
      const int key_head = work.head / shared_by, tiles = tiles_of(work.keys);
      if (round == 0) wait_for_predecessor();
      if (threadIdx.x == 0) bring_first(work, key_head, tiles, place);
      if (round == 0) {
        __syncthreads();      // the barriers stand
        launch_dependents();  // not before: their first loads would be in the way of the predecessor's
      }
      const int step = split ? 2 : 1, first = split ? group() : 0;
      const int row0 = work.row0 + (split ? 0 : group() * 64);
      Rows rows;
      rows.all = seen_by(work, row0);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        rows.top[half] = minus_infinity(), rows.sum[half] = 0;
        rows.seen[half] = seen_by(work, row0 + group_row() + 8 * half);
      }
      float out[kOut];
#pragma unroll
      for (int i = 0; i < kOut; ++i) out[i] = 0;
      // The first of two warpgroups may be done with its keys sooner.
      const int own = split ? tiles : min(tiles, tiles_of(seen_by(work, row0 + 63)));
      barrier_wait(queries(), round & 1);
      if (first < own) attend(work, key_head, out, rows, first, step, own, place);
      if (!split) {
#pragma unroll 1
        for (int tile = own; tile < tiles; ++tile) {
          barrier_wait(full(place + tile), parity(place + tile));
          release(place + tile);
        }
      }
      if (split) exchange(out, rows);
      write(work, out, rows);
      place += tiles, ++round;
    }
  }

  __device__ __forceinline__ void run() {
    if (threadIdx.x == 32) {
      prefetch_map(reinterpret_cast<const TensorMap&>(args.q));
      prefetch_map(reinterpret_cast<const TensorMap&>(args.k));
      prefetch_map(reinterpret_cast<const TensorMap&>(args.v));
    }
    if (threadIdx.x == 0) {
      barrier_init(queries(), 1);
#pragma unroll
      for (int s = 0; s < kAttentionStages; ++s) {
        barrier_init(full(s), 1);
        barrier_init(empty(s), split ? 4 : 8);
      }
      barriers_made();
    }
    __syncwarp();
    multiply_all();
  }
};

template <class T, int kHead>
__device__ __forceinline__ void attention_wgmma(const AttentionWgmmaArgs& args) {
  extern __shared__ __align__(1024) unsigned char attention_memory[];
  if (blockDim.x != kAttentionThreads ||
      shared_memory_bytes() < static_cast<unsigned>(AttentionWgmmaShape{kHead}.shared_bytes()))
    return;
  AttentionWgmma<T, kHead>(args, attention_memory).run();
}

}  // namespace ge::kernels
#endif  // GE_SM90A
