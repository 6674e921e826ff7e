// out = act(lhs rhs + bias + residual) on Hopper's warpgroup matrix units, 16-bit elements, float sums.
// Entry: dot_wgmma<T, kRows, kColumns, kAcross>. A cluster of S blocks shares one tile of kRows x kColumns
// and splits its depth; grid is S times the tiles or fewer, clusters loop. Threads: kRows / 64 * kAcross
// warpgroups multiply (64 rows, kColumns / kAcross columns each), one warp more copies tiles of depth 64
// through a ring of as many stages as the launch's shared memory holds. Partial sums travel to the block that
// owns their columns (an S-th of the tile) and are added in the order of the depth: same bits in every run.
// Starts before its predecessor is done; reads rhs then where args.early says it may, everything else after.
//
// Barriers. full[s]: one arrival a round, of the copying thread, with the bytes of a stage. empty[s]: one
// arrival a round of each multiplying warp, once the products that read the stage are done; the copying
// thread waits for it before every round but the first. Nobody is a whole round behind, so a parity names its
// phase. received: one arrival a tile, of thread 0, with the bytes of all parts that the block owns; blocks
// that own none wait for none (each phase would be over at once, and whoever came late would wait for the one
// after). The cluster's barrier, on which every thread of every block arrives: once before anything is sent
// (the blocks run and their barriers stand), and once between two tiles (the parts are read, `received`
// expects the next). After a block has received its parts nothing reaches it and what it sent came from
// registers, so it may leave.
//
// Parts. Thread t of a warpgroup holds of each chunk of 8 columns: of row 16 (t / 32) + t % 32 / 4 and of the
// one 8 below the columns 2 (t % 4) and the next. It stores these 16 bytes as one unit; a warp's 32 units of
// a chunk lie together, unit u at u ^ (u / 8): the thread that finishes a row's chunk collects its 8 values
// from 4 units, and so the 16 threads that do it at once touch every bank once.
#pragma once
#include <type_traits>

#include "kernels/device/activation.cuh"
#include "kernels/device/wgmma.cuh"
#include "kernels/dot/dot_wgmma.h"
#include "kernels/loop/narrow_math.h"

#ifdef GE_SM90A

namespace ge::kernels {

// `scratch`: where the eight values came from, which are no one else's.
template <class T, class At>
__device__ __forceinline__ void activate_eight(const DotWgmmaArgs& args, At&& scratch, float (&v)[8]) {
  constexpr bool kSmall = std::is_same_v<T, BHalf>;
  const int op = static_cast<int>(args.activation.op);
  if (op == 0) return;
  if (op == 65) {  // relu
#pragma unroll
    for (int e = 0; e < 8; ++e) v[e] = scalar::relu<float>(v[e]);
  } else if (op == 73 && args.narrow != 0) {  // gelu
#pragma unroll
    for (int e = 0; e < 8; ++e) v[e] = narrow::gelu<kSmall>(v[e]);
  } else if (op == 74 && args.narrow != 0) {  // gelu_tanh
#pragma unroll
    for (int e = 0; e < 8; ++e) v[e] = narrow::gelu_tanh<kSmall>(v[e]);
  } else {
#pragma unroll
    for (int e = 0; e < 8; e += 2) store_shared(scratch(e / 2), v[e], v[e + 1]);
#pragma unroll 1
    for (int e = 0; e < 4; ++e) {
      float a, b;
      load_shared(scratch(e), a, b);
      store_shared(scratch(e), activate(args.activation, a), activate(args.activation, b));
    }
#pragma unroll
    for (int e = 0; e < 8; e += 2) load_shared(scratch(e / 2), v[e], v[e + 1]);
  }
}

template <class T>
__device__ __forceinline__ void add_eight(const uint4& words, float (&v)[8]) {
  const unsigned w[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[2 * i] += to_float(T{static_cast<unsigned short>(w[i])});
    v[2 * i + 1] += to_float(T{static_cast<unsigned short>(w[i] >> 16)});
  }
}
template <class T>
__device__ __forceinline__ uint4 pack_eight(const float (&v)[8]) {
  unsigned w[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    w[i] = from_float<T>(v[2 * i]).bits | static_cast<unsigned>(from_float<T>(v[2 * i + 1]).bits) << 16;
  return {w[0], w[1], w[2], w[3]};
}

template <class T>
__device__ __forceinline__ unsigned pack_two(float a, float b) {
  return from_float<T>(a).bits | static_cast<unsigned>(from_float<T>(b).bits) << 16;
}

// Of values in registers.
template <class T, int kCount>
__device__ __forceinline__ void activate_all(const DotWgmmaArgs& args, float (&v)[kCount]) {
  constexpr bool kSmall = std::is_same_v<T, BHalf>;
  const int op = static_cast<int>(args.activation.op);
  if (op == 0) return;
  if (op == 65) {  // relu
#pragma unroll
    for (int e = 0; e < kCount; ++e) v[e] = scalar::relu<float>(v[e]);
  } else if (op == 73 && args.narrow != 0) {  // gelu
#pragma unroll
    for (int e = 0; e < kCount; ++e) v[e] = narrow::gelu<kSmall>(v[e]);
  } else if (op == 74 && args.narrow != 0) {  // gelu_tanh
#pragma unroll
    for (int e = 0; e < kCount; ++e) v[e] = narrow::gelu_tanh<kSmall>(v[e]);
  } else {  // one code for all values, which pass by
#pragma unroll 1
    for (int e = 0; e < kCount; e += 2) {
      const float a = activate(args.activation, v[0]), b = activate(args.activation, v[1]);
#pragma unroll
      for (int i = 0; i + 2 < kCount; ++i) v[i] = v[i + 2];
      v[kCount - 2] = a, v[kCount - 1] = b;
    }
  }
}

template <class T, int kRows, int kColumns, int kAcross>
struct WgmmaTile {
  static constexpr WgmmaTileShape kShape{kRows, kColumns, kAcross};
  static constexpr int kThreads = kShape.threads(), kBlockThreads = kShape.block_threads();
  static constexpr int kGroupColumns = kShape.group_columns(), kChunks = kShape.chunks(),
                       kWidth = kShape.width();
  static constexpr int kLeftBytes = kShape.left_bytes(), kStageBytes = kShape.stage_bytes();
  static constexpr int kChunkBytes = kThreads * 16;  // of all warpgroups
  static constexpr int kAhead = 2;                   // pairs of chunks whose bias and residual are on the way
  static constexpr int kPart = kShape.part_columns(), kPartUnits = kPart / 8;
  static_assert(kRows % 64 == 0 && kColumns % kAcross == 0 && kGroupColumns % 16 == 0 &&
                kStageBytes % 1024 == 0);

  // Shared memory: stages, slots for partial sums, barriers.
  unsigned base, slots, barriers;
  int stages, split, rank, per;  // per: chunks of a group that one block of the cluster owns
  int tiles, row_tiles, tile, tile_step, row0, column0;
  int first_block, last_block;  // of the depth, in steps of kWgmmaDepth

  // False: the launch is not what the row allows; nothing may be touched.
  __device__ __forceinline__ bool begin(const DotWgmmaArgs& args, unsigned char* memory) {
    const ClusterPlace place = cluster_place();
    split = place.size, rank = place.rank, tile = place.cluster, tile_step = place.clusters;
    const WgmmaTileShape shape = kShape;
    per = shape.owned_chunks(split);
    const int slot_bytes = shape.slot_bytes(split);
    const int room = static_cast<int>(shared_memory_bytes()) - slot_bytes - kWgmmaBarrierBytes;
    stages = min(room / kStageBytes, kWgmmaMaxStages);
    if (room < 0 || stages < kWgmmaMinStages || blockDim.x != kBlockThreads) return false;
    base = shared_address(memory);
    slots = base + stages * kStageBytes;
    barriers = slots + slot_bytes;
    row_tiles = (static_cast<int>(args.rows) + kRows - 1) / kRows;
    tiles = row_tiles * ((static_cast<int>(args.columns) + kColumns - 1) / kColumns);
    const auto blocks = static_cast<unsigned>((static_cast<int>(args.depth) + kWgmmaDepth - 1) / kWgmmaDepth);
    first_block = static_cast<int>(blocks * static_cast<unsigned>(rank) / static_cast<unsigned>(split));
    last_block = static_cast<int>(blocks * static_cast<unsigned>(rank + 1) / static_cast<unsigned>(split));
    place_tile();
    return true;
  }
  __device__ __forceinline__ void place_tile() {
    const auto across = static_cast<int>(static_cast<unsigned>(tile) / static_cast<unsigned>(row_tiles));
    row0 = (tile - across * row_tiles) * kRows;
    column0 = across * kColumns;
  }
  __device__ __forceinline__ int owned() const { return min(per, kChunks - rank * per); }  // below 1: none
  __device__ __forceinline__ unsigned full(int stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ unsigned empty(int stage) const {
    return barriers + (kWgmmaMaxStages + stage) * 8;
  }
  __device__ __forceinline__ unsigned received() const { return barriers + 2 * kWgmmaMaxStages * 8; }
  // Rows of a tile come in sixteens, a warp's each; those beyond the last row are not sent.
  __device__ __forceinline__ int live_warps(const DotWgmmaArgs& args) const {
    return kAcross * max(0, min(kRows / 16, (static_cast<int>(args.rows) - row0 + 15) / 16));
  }
  __device__ __forceinline__ int part_bytes(const DotWgmmaArgs& args) const {  // of all parts of this block
    return split * max(0, owned()) * live_warps(args) * 512;
  }
  __device__ __forceinline__ void expect_parts(const DotWgmmaArgs& args) const {
    if (tile < tiles && part_bytes(args) > 0) barrier_expect(received(), part_bytes(args));
  }
  __device__ __forceinline__ void make_barriers(const DotWgmmaArgs& args) const {
    for (int s = 0; s < stages; ++s) {
      barrier_init(full(s), 1);
      barrier_init(empty(s), kThreads / 32);
    }
    barrier_init(received(), 1);
    barriers_made();
    if (split > 1) expect_parts(args);
  }
  __device__ __forceinline__ void between_tiles() const {
    cluster_arrive();
    cluster_wait();
  }

  // -- the thread that copies, and those of its warp or warpgroup, which have only to meet the others --
  __device__ __forceinline__ void copy_left(const DotWgmmaArgs& args, int stage, int block) const {
    const TensorMap& map = reinterpret_cast<const TensorMap&>(args.lhs);
    copy_tile(base + stage * kStageBytes, map, block * kWgmmaDepth, row0, full(stage));
  }
  __device__ __forceinline__ void copy_right(const DotWgmmaArgs& args, int stage, int block) const {
    const TensorMap& map = reinterpret_cast<const TensorMap&>(args.rhs);
    const unsigned to = base + stage * kStageBytes + kLeftBytes;
    if (args.rhs_step == 1) {
#pragma unroll 1
      for (int c = 0; c < kColumns; c += kWidth)
        copy_tile(to + c * kWgmmaDepth * 2, map, column0 + c, block * kWgmmaDepth, full(stage));
    } else {
      copy_tile(to, map, block * kWgmmaDepth, column0, full(stage));
    }
  }
  // Stages that need no one's leave.
  __device__ __forceinline__ int ready() const {
    return tile < tiles ? min(stages, last_block - first_block) : 0;
  }
  __device__ __forceinline__ void copy_early(const DotWgmmaArgs& args) const {
    const int count = args.early != 0 ? ready() : 0;
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
      barrier_expect(full(i), kStageBytes);
      copy_right(args, i, first_block + i);
    }
  }
  __device__ __forceinline__ void copy_all(const DotWgmmaArgs& args, bool leader) {
    if (leader) copy_early(args);
    __syncwarp();
    wait_for_predecessor();
    launch_dependents();
    const int count = ready();
#pragma unroll 1
    for (int i = 0; leader && i < count; ++i) {
      if (args.early == 0) {
        barrier_expect(full(i), kStageBytes);
        copy_right(args, i, first_block + i);
      }
      copy_left(args, i, first_block + i);
    }
    int stage = count == stages ? 0 : count, block = first_block + count;
    unsigned parity = count == stages ? 0 : 1;  // of the round of `empty` to wait for; 1: none yet
    bool first = true;
#pragma unroll 1
    while (tile < tiles) {
#pragma unroll 1
      for (; leader && block < last_block; ++block) {
        barrier_wait(empty(stage), parity);
        barrier_expect(full(stage), kStageBytes);
        copy_left(args, stage, block);
        copy_right(args, stage, block);
        if (++stage == stages) stage = 0, parity ^= 1;
      }
      __syncwarp();
      if (split > 1) {
        if (first) cluster_wait();
        if (tile + tile_step < tiles) between_tiles();
      }
      first = false;
      tile += tile_step, block = first_block;
      place_tile();
    }
    if (split > 1 && first) cluster_wait();
  }

  // -- the warpgroups that multiply --
  template <bool kByColumns>
  __device__ __forceinline__ void multiply(float (&sums)[kChunks * 4], int& stage, unsigned& parity) const {
    const int group = threadIdx.x / 128;
    const unsigned left0 = base + group / kAcross * 64 * kWgmmaDepth * 2;
    const unsigned right0 = base + kLeftBytes + group % kAcross * kGroupColumns * kWgmmaDepth * 2;
    int former = -1;
#pragma unroll 1
    for (int block = first_block; block < last_block; ++block) {
      barrier_wait(full(stage), parity);
      wgmma_begin();
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        const unsigned long long left = side_at(kSideOfDepth, left0 + stage * kStageBytes + step * 32);
        const unsigned long long right =
            kByColumns ? side_at(kSideOfColumns<kWidth>, right0 + stage * kStageBytes + step * kWidth * 32)
                       : side_at(kSideOfDepth, right0 + stage * kStageBytes + step * 32);
        Wgmma<T, kGroupColumns, kByColumns>::multiply(sums, left, right);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (former >= 0) release(former);
      former = stage;
      if (++stage == stages) stage = 0, parity ^= 1;
    }
    wgmma_wait<0>();
    wgmma_results(sums);
    if (former >= 0) release(former);
  }
  __device__ __forceinline__ void release(int stage) const {
    if (threadIdx.x % 32 == 0) barrier_arrive(empty(stage));
  }

  // What one thread finishes: of its warp's 16 rows one, of each two chunks one. Addresses are those of its
  // chunk of the first pair, `chunks` is how far pairs count for it.
  struct Mine {
    const char *bias_at, *residual_at;
    char* out_at;
    unsigned unit;  // the first of a chunk's four, in slot 0
    int chunks;     // less the one that it is itself behind a pair's first
    uint4 bias[kAhead], residual[kAhead];
  };
  __device__ __forceinline__ int warp_row() const {
    return row0 + static_cast<int>(threadIdx.x) / 128 / kAcross * 64 +
           static_cast<int>(threadIdx.x) % 128 / 32 * 16;
  }
  __device__ __forceinline__ Mine mine(const DotWgmmaArgs& args) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, r = lane % 8, below = lane / 8 % 2,
              second = lane / 16;
    const int row = warp_row() + r + 8 * below;
    const int column =
        column0 + static_cast<int>(threadIdx.x) / 128 % kAcross * kGroupColumns + (rank * per + second) * 8;
    Mine m;
    m.out_at = static_cast<char*>(args.out) + (row * args.out_step + column) * 2;
    m.bias_at = static_cast<const char*>(args.bias) + column * 2;
    m.residual_at = static_cast<const char*>(args.residual) + (row * args.residual_step + column) * 2;
    m.unit = slots + threadIdx.x / 32 * 512 + (r * 4 + r / 2) * 16 + below * 8 + second * kChunkBytes;
    const int beyond = (static_cast<int>(args.columns) - column) / 8;  // n is a multiple of 8
    m.chunks = row < static_cast<int>(args.rows) ? min(owned() - second, beyond) : 0;
    // Made once: the compiler would make them anew wherever they are used.
    asm volatile("" : "+l"(m.out_at), "+l"(m.bias_at), "+l"(m.residual_at), "+r"(m.unit), "+r"(m.chunks));
    return m;
  }
  // Bias and residual of this thread's chunk of the pair that begins with owned chunk `pair`.
  __device__ __forceinline__ void load_added(const DotWgmmaArgs& args, int pair, const Mine& m, uint4& bias,
                                             uint4& residual) const {
    if (pair >= m.chunks) return;
    if (args.bias != nullptr) bias = load_global(m.bias_at + pair * 16);
    if (args.residual != nullptr) residual = load_global(m.residual_at + pair * 16);
  }
  // Of the pair `pair` of owned chunks, whose parts begin with slot `slot`.
  __device__ __forceinline__ void finish_pair(const DotWgmmaArgs& args, int pair, int slot, Mine& m) const {
    unsigned from = m.unit + slot * kChunkBytes;
    float v[8];
#pragma unroll
    for (int q = 0; q < 4; ++q) load_shared(from ^ q * 16, v[2 * q], v[2 * q + 1]);
#pragma unroll 1
    for (int part = 1; part < split; ++part) {
      from += per * kChunkBytes;
      float w[8];
#pragma unroll
      for (int q = 0; q < 4; ++q) load_shared(from ^ q * 16, w[2 * q], w[2 * q + 1]);
#pragma unroll
      for (int e = 0; e < 8; ++e) v[e] += w[e];
    }
    if (args.bias != nullptr) add_eight<T>(m.bias[0], v);
    if (args.residual != nullptr) add_eight<T>(m.residual[0], v);
#pragma unroll
    for (int i = 0; i + 1 < kAhead; ++i) m.bias[i] = m.bias[i + 1], m.residual[i] = m.residual[i + 1];
    load_added(args, pair + 2 * kAhead, m, m.bias[kAhead - 1], m.residual[kAhead - 1]);
    activate_eight<T>(
        args, [from](int q) { return from ^ q * 16; }, v);
    store_global(m.out_at + pair * 16, pack_eight<T>(v));
  }

  __device__ __forceinline__ unsigned unit_to_fill() const {
    const unsigned lane = threadIdx.x % 32;
    return slots + threadIdx.x / 32 * 512 + (lane ^ lane / 8) * 16;
  }
  // Every chunk leaves for its owner.
  __device__ __forceinline__ void send_parts(const float (&sums)[kChunks * 4]) const {
    const unsigned to = unit_to_fill() + rank * per * kChunkBytes;
    int owner = 0, slot = 0;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      send_to(in_block(to + slot * kChunkBytes, owner), in_block(received(), owner), sums[c * 4],
              sums[c * 4 + 1], sums[c * 4 + 2], sums[c * 4 + 3]);
      if (++slot == per) slot = 0, ++owner;
    }
  }
  __device__ __forceinline__ void finish_owned(const DotWgmmaArgs& args, Mine& m) const {
#pragma unroll 1
    for (int pair = 0; pair < owned(); pair += 2)
      if (pair < m.chunks) finish_pair(args, pair, pair, m);
  }

  // -- a block alone: a warp's 16 rows leave in parts of kPart columns. Shared memory holds a part as 16 rows
  // of 128 bytes, unit u of 16 bytes of row r at u ^ (r % 8).
  struct Added {    // of a part
    unsigned bias;  // columns 2 lane and the next
    uint4 residual[kPartUnits / 2];
  };
  __device__ __forceinline__ unsigned part_memory() const {
    return slots + threadIdx.x / 32 * 2048;
  }
  __device__ __forceinline__ int part_column(int part) const {
    return column0 + static_cast<int>(threadIdx.x) / 128 % kAcross * kGroupColumns + part * kPart;
  }
  __device__ __forceinline__ void load_part(const DotWgmmaArgs& args, int part, Added& added) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, column = part_column(part);
    if (args.bias != nullptr && lane < kPart / 2 && column + 2 * lane < static_cast<int>(args.columns))
      added.bias = load_global_word(static_cast<const char*>(args.bias) + (column + 2 * lane) * 2);
    if (args.residual == nullptr) return;
    const char* from =
        static_cast<const char*>(args.residual) + (warp_row() * args.residual_step + column) * 2;
#pragma unroll
    for (int i = 0; i < kPartUnits / 2; ++i) {
      const int unit = i * 32 + lane, row = unit / kPartUnits, at = unit % kPartUnits * 8;
      if (warp_row() + row < static_cast<int>(args.rows) && column + at < static_cast<int>(args.columns))
        added.residual[i] = load_global(from + (row * args.residual_step + at) * 2);
    }
  }
  __device__ __forceinline__ static unsigned unit_in_part(unsigned memory, int row, int unit) {
    return memory + row * 128 + (unit ^ row % 8) * 16;
  }
  // Of the pair `pair` of a part's chunks: where ldmatrix and stmatrix find this lane's row.
  __device__ __forceinline__ static unsigned pair_in_part(unsigned memory, int pair) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return unit_in_part(memory, lane % 16, 2 * pair + lane / 16);
  }
  __device__ __forceinline__ void finish_part(const DotWgmmaArgs& args, int part, Added& added,
                                              float (&v)[kPart / 2]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, column = part_column(part);
    const unsigned memory = part_memory();
    if (args.bias != nullptr) {
#pragma unroll
      for (int c = 0; c < kPartUnits; ++c) {
        const unsigned two = __shfl_sync(0xffffffff, added.bias, c * 4 + lane % 4);
        const float a = to_float(T{static_cast<unsigned short>(two)}),
                    b = to_float(T{static_cast<unsigned short>(two >> 16)});
        v[c * 4] += a, v[c * 4 + 1] += b, v[c * 4 + 2] += a, v[c * 4 + 3] += b;
      }
    }
    if (args.residual != nullptr) {
#pragma unroll
      for (int i = 0; i < kPartUnits / 2; ++i) {
        const int unit = i * 32 + lane;
        store_shared(unit_in_part(memory, unit / kPartUnits, unit % kPartUnits), added.residual[i]);
      }
      __syncwarp();
#pragma unroll
      for (int p = 0; p < kPartUnits / 2; ++p) {
        unsigned w[4];
        load_matrices(pair_in_part(memory, p), w);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          v[p * 8 + i * 2] += to_float(T{static_cast<unsigned short>(w[i])});
          v[p * 8 + i * 2 + 1] += to_float(T{static_cast<unsigned short>(w[i] >> 16)});
        }
      }
      __syncwarp();
    }
    if ((part + 1) * kPart < kGroupColumns) load_part(args, part + 1, added);
    activate_all<T>(args, v);
#pragma unroll
    for (int p = 0; p < kPartUnits / 2; ++p) {
      unsigned w[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) w[i] = pack_two<T>(v[p * 8 + i * 2], v[p * 8 + i * 2 + 1]);
      store_matrices(pair_in_part(memory, p), w);
    }
    __syncwarp();
    char* to = static_cast<char*>(args.out) + (warp_row() * args.out_step + column) * 2;
#pragma unroll
    for (int i = 0; i < kPartUnits / 2; ++i) {
      const int unit = i * 32 + lane, row = unit / kPartUnits, at = unit % kPartUnits;
      const uint4 words = load_shared_words(unit_in_part(memory, row, at));
      if (warp_row() + row < static_cast<int>(args.rows) && column + at * 8 < static_cast<int>(args.columns))
        store_global(to + (row * args.out_step + at * 8) * 2, words);
    }
    __syncwarp();
  }
  __device__ __forceinline__ void finish_alone(const DotWgmmaArgs& args, const float (&sums)[kChunks * 4],
                                               Added& added) const {
#pragma unroll 1
    for (int part = 0; part < kGroupColumns / kPart; ++part) {
      float v[kPart / 2];
#pragma unroll
      for (int p = 0; p < kGroupColumns / kPart; ++p)
        if (part == p)
#pragma unroll
          for (int i = 0; i < kPart / 2; ++i) v[i] = sums[p * (kPart / 2) + i];
      finish_part(args, part, added, v);
    }
  }

  // The product of the block's tile, over the depth that is this block's.
  __device__ __forceinline__ void multiply_tile(const DotWgmmaArgs& args, float (&sums)[kChunks * 4],
                                                int& stage, unsigned& parity) const {
#pragma unroll
    for (int i = 0; i < kChunks * 4; ++i) sums[i] = 0;
    if (args.rhs_step == 1)
      multiply<true>(sums, stage, parity);
    else
      multiply<false>(sums, stage, parity);
  }
  __device__ __forceinline__ void multiply_alone(const DotWgmmaArgs& args) {
    int stage = 0;
    unsigned parity = 0;
    wait_for_predecessor();
#pragma unroll 1
    for (; tile < tiles; tile += tile_step) {
      place_tile();
      const bool live = warp_row() < static_cast<int>(args.rows);
      Added added;
      added.bias = 0;
#pragma unroll
      for (int i = 0; i < kPartUnits / 2; ++i) added.residual[i] = {0, 0, 0, 0};
      if (live) load_part(args, 0, added);
      float sums[kChunks * 4];
      multiply_tile(args, sums, stage, parity);
      if (live) finish_alone(args, sums, added);
    }
  }
  __device__ __forceinline__ void multiply_parts(const DotWgmmaArgs& args) {
    int stage = 0;
    unsigned parity = 0, received_parity = 0;
    bool first = true;
#pragma unroll 1
    while (tile < tiles) {
      Mine m = mine(args);
      if (first) wait_for_predecessor();  // not before: what stands above costs time as well
#pragma unroll
      for (int i = 0; i < kAhead; ++i) m.bias[i] = m.residual[i] = {0, 0, 0, 0};
#pragma unroll
      for (int i = 0; i < kAhead; ++i) load_added(args, 2 * i, m, m.bias[i], m.residual[i]);
      float sums[kChunks * 4];
      multiply_tile(args, sums, stage, parity);
      if (first) cluster_wait();
      if (warp_row() < static_cast<int>(args.rows)) send_parts(sums);
      if (part_bytes(args) > 0) barrier_wait_for_cluster(received(), received_parity);
      first = false;
      finish_owned(args, m);
      received_parity ^= part_bytes(args) > 0;
      const bool more = tile + tile_step < tiles;
      tile += tile_step;
      place_tile();
      if (more) {
        if (threadIdx.x == 0) expect_parts(args);
        between_tiles();
      }
    }
    if (first) wait_for_predecessor(), cluster_wait();
  }

  __device__ __forceinline__ void run(const DotWgmmaArgs& args, unsigned char* memory) {
    if (!begin(args, memory)) return;
    const bool leader = threadIdx.x / 32 == kThreads / 32 && is_elected();
    if (leader) {
      prefetch_map(reinterpret_cast<const TensorMap&>(args.rhs));
      prefetch_map(reinterpret_cast<const TensorMap&>(args.lhs));
      make_barriers(args);
    }
    __syncthreads();
    if (split > 1) cluster_arrive_relaxed();
    if (threadIdx.x >= kThreads) {
      if constexpr (kShape.trades()) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      copy_all(args, leader);
    } else {
      if constexpr (kShape.trades()) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      if (split > 1)
        multiply_parts(args);
      else
        multiply_alone(args);
    }
  }
};

template <class T, int kRows, int kColumns, int kAcross>
__device__ __forceinline__ void dot_wgmma(const DotWgmmaArgs& args) {
  extern __shared__ __align__(1024) unsigned char wgmma_memory[];
  WgmmaTile<T, kRows, kColumns, kAcross> tile;
  tile.run(args, wgmma_memory);
}

}  // namespace ge::kernels
#endif  // GE_SM90A
