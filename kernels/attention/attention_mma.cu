// attention_mma{64,128}_{f16,bf16}_sm80: out = softmax(scale q k' + mask) v on tensor cores (mma.sync
// m16n8k16), scores in registers, sums in float, p rounded to the operands' type before its product. Heads up
// to 64, or up to 128; any lengths and strides (16-byte cp.async where the head axis is dense, the others and
// the address multiples of 8 elements; element loads otherwise). 256 threads; a warp holds 16 queries and
// their results. Tiles of 128, 64 or 32 queries, the largest that keeps a large GPU busy; where the warps are
// more than that, they share the keys of a tile and add up at the end. Keys come in tiles of 64 (32 for heads
// beyond 64), two in flight, in 48 KB of shared memory with the queries. Causal rows end at their last key's
// tile. Blocks loop over tiles of queries; two blocks a multiprocessor, one for heads beyond 64.
#include "kernels/attention/attention.h"
#include "kernels/attention/attention_device.cuh"
#include "kernels/device/dependent_launch.cuh"
#include "kernels/device/index.cuh"
#include "kernels/device/mma_tile.cuh"

namespace ge::kernels {

inline constexpr int kAttentionShared = 48 * 1024;

// Element offset of chunk `chunk` (8 elements) of a row of kHead, swizzled: neither 16-byte stores nor
// ldmatrix meet conflicts.
template <int kHead>
__device__ __forceinline__ int head_slot(int row, int chunk) {
  static_assert(kHead == 32 || kHead == 64 || kHead == 96 || kHead == 128);
  return row * kHead + ((chunk ^ (kHead % 64 == 0 ? row & 7 : (row >> 1) & 3)) << 3);
}

// Rows of one head. Sizes and strides stay in the arguments, which cost no registers.
template <class T>
struct HeadRows {
  const TensorView& view;
  const T* data;
  __device__ HeadRows(const TensorView& v, int batch, int head)
      : view(v), data(pointer_to<T>(v, batch * v.strides[0] + head * v.strides[1])) {}

  // Each thread one chunk of every row that it has; `rows` and `size`: of the head.
  template <int kRows, int kHead>
  __device__ __forceinline__ void fetch_vectors(T* shared, int row0, int rows, int size) const {
    constexpr int kAcross = kHead / 8, kAtOnce = 256 / kAcross;
    const int chunk = static_cast<int>(threadIdx.x) % kAcross,
              first = static_cast<int>(threadIdx.x) / kAcross;
    const int left = size - chunk * 8, bytes = left < 0 ? 0 : left < 8 ? left * 2 : 16;
    const int end = rows - row0;  // of the tile's rows that are there
    const int64_t step = view.strides[2];
    const T* from = data + (row0 + first) * step + chunk * 8;
#pragma unroll
    for (int i = 0; i < (kRows + kAtOnce - 1) / kAtOnce; ++i, from += kAtOnce * step) {
      const int row = first + i * kAtOnce, valid = row < end ? bytes : 0;
      if (kRows % kAtOnce == 0 || row < kRows)
        cp_async_16(shared + head_slot<kHead>(row, chunk), valid == 0 ? data : from, valid);
    }
  }

  // Brings rows [row0, row0 + kRows) as a swizzled tile; zeros outside.
  template <int kRows, int kHead>
  __device__ __forceinline__ void fetch(T* shared, int row0) const {
    constexpr int kAcross = kHead / 8, kChunks = kRows * kAcross;
    const int rows = static_cast<int>(view.dims[2]), size = static_cast<int>(view.dims[3]);
    const bool vector =
        view.strides[3] == 1 && view.strides[2] % 8 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0;
#if __CUDA_ARCH__ >= 900  // before, there are not the registers for it
    if constexpr (256 % kAcross == 0) {
      if (vector) return fetch_vectors<kRows, kHead>(shared, row0, rows, size);
    }
#endif
#pragma unroll 1
    for (int i = threadIdx.x; i < kChunks; i += 256) {  // not unrolled: addresses would take registers
      const int row = i / kAcross, chunk = i % kAcross;
      const int left = row0 + row < rows ? size - chunk * 8 : 0, valid = left < 0 ? 0 : left < 8 ? left : 8;
      const T* from = data + (row0 + row) * view.strides[2] + chunk * 8 * view.strides[3];
      T* to = shared + head_slot<kHead>(row, chunk);
      if (vector) {
        cp_async_16(to, valid == 0 ? data : from, valid * 2);
      } else {
#pragma unroll 1
        for (int e = 0; e < 8; ++e) to[e] = e < valid ? from[e * view.strides[3]] : T{0};
      }
    }
  }
};

template <class T, int kHead, int kKeys, int kRowWarps>
struct AttentionTile {
  static constexpr int kKeyWarps = 8 / kRowWarps, kRows = 16 * kRowWarps, kWarpKeys = kKeys / kKeyWarps;
  static constexpr int kPartKeys = kWarpKeys < 32 ? kWarpKeys : 32;  // scores in registers at a time
  static constexpr int kSteps = kHead / 16, kScoreTiles = kPartKeys / 8, kOutTiles = kHead / 8;
  static constexpr int kStage = 2 * kKeys * kHead;  // elements: keys, then values
  static constexpr bool kOwnQueries = (2 * kStage + kRows * kHead) * 2 <= kAttentionShared;
  static constexpr int kPartial = 32 * (kOutTiles * 4 + 4);  // floats that a warp hands over
  static_assert(kWarpKeys % 16 == 0 && 2 * kStage * 2 <= kAttentionShared &&
                kRows * kHead * 2 <= kAttentionShared);
  static_assert((8 - kRowWarps) * kPartial * 4 <= kAttentionShared);

  unsigned query[kSteps][4];
  float out[kOutTiles][4];
  float top[2], sum[2];  // of rows lane / 4 and lane / 4 + 8; sums of this thread's columns

  static __device__ __forceinline__ int lane() { return threadIdx.x & 31; }
  static __device__ __forceinline__ int row_warp() { return (threadIdx.x >> 5) % kRowWarps; }
  static __device__ __forceinline__ int key_warp() { return (threadIdx.x >> 5) / kRowWarps; }

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int j = 0; j < kOutTiles; ++j) out[j][0] = out[j][1] = out[j][2] = out[j][3] = 0;
    top[0] = top[1] = minus_infinity();
    sum[0] = sum[1] = 0;
  }

  __device__ __forceinline__ void take_queries(const T* shared) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
      ldmatrix_x4(query[step],
                  shared + head_slot<kHead>(row_warp() * 16 + (lane() & 15), step * 2 + (lane() >> 4)));
  }

  // key0: of the warp's part, from the tile's first.
  __device__ __forceinline__ void multiply(float (&s)[kScoreTiles][4], const T* keys, int key0) const {
#pragma unroll
    for (int j = 0; j < kScoreTiles; j += 2) {
#pragma unroll
      for (int e = 0; e < 4; ++e) s[j][e] = s[j + 1][e] = 0;
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        unsigned f[4];
        ldmatrix_x4(f, keys + head_slot<kHead>(key0 + j * 8 + (lane() & 7) + ((lane() >> 4) << 3),
                                               step * 2 + ((lane() >> 3) & 1)));
        mma_m16n8k16<T>(s[j], query[step], f[0], f[1]);
        mma_m16n8k16<T>(s[j + 1], query[step], f[2], f[3]);
      }
    }
  }

  // Scores to powers of two: scaled, masked, -inf past the last key of a row.
  __device__ __forceinline__ void mask(const AttentionArgs& args, const AttentionWork& work, int key0,
                                       float (&s)[kScoreTiles][4]) const {
    const float factor = static_cast<float>(args.scale) * kLog2e;
#pragma unroll
    for (int j = 0; j < kScoreTiles; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) s[j][e] *= factor;
    }
    const int row = work.row0 + row_warp() * 16 + (lane() >> 2);
    const int key = key0 + (lane() & 3) * 2;
    if (args.mask.data != nullptr) add_mask(args, work, row, key, s);
    const int length = static_cast<int>(args.k.dims[2]);
    if (key0 + kPartKeys <= work.seen_by(args.causal, work.row0, length)) return;  // all rows see all
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int seen = work.seen_by(args.causal, row + 8 * half, length);
#pragma unroll
      for (int j = 0; j < kScoreTiles; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (key + j * 8 + e >= seen) s[j][half * 2 + e] = minus_infinity();
      }
    }
  }

  __device__ __forceinline__ void add_mask(const AttentionArgs& args, const AttentionWork& work, int row,
                                           int key, float (&s)[kScoreTiles][4]) const {
    const TensorView& view = args.mask;
    const bool boolean = view.dtype == DType::boolean;
    const float fill = static_cast<float>(args.fill) * kLog2e;
    const int64_t step = view.strides[3];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (row + 8 * half >= work.row0 + work.rows) continue;
      const int64_t at = work.batch * view.strides[0] + work.head * view.strides[1] +
                         (row + 8 * half) * view.strides[2] + key * step;
      const int left = static_cast<int>(view.dims[3]) - key;
#pragma unroll
      for (int j = 0; j < kScoreTiles; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& score = s[j][half * 2 + e];
          if (j * 8 + e >= left) continue;
          if (!boolean)
            score += to_float(*pointer_to<T>(view, at + (j * 8 + e) * step)) * kLog2e;
          else if (*pointer_to<unsigned char>(view, at + (j * 8 + e) * step) == 0)
            score = fill;
        }
      }
    }
  }

  // Scores become exponentials under the rows' new maximum; results and sums follow it.
  __device__ __forceinline__ void advance(float (&s)[kScoreTiles][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float now = top[half];
#pragma unroll
      for (int j = 0; j < kScoreTiles; ++j) now = fmaxf(now, fmaxf(s[j][half * 2], s[j][half * 2 + 1]));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 1));
      now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 2));
      const float shift = now == minus_infinity() ? 0.0f : now, old = exp2_approx(top[half] - shift);
      top[half] = now;
      float more = 0;
#pragma unroll
      for (int j = 0; j < kScoreTiles; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) more += s[j][half * 2 + e] = exp2_approx(s[j][half * 2 + e] - shift);
      }
      sum[half] = sum[half] * old + more;
#pragma unroll
      for (int j = 0; j < kOutTiles; ++j) {
        out[j][half * 2] *= old;
        out[j][half * 2 + 1] *= old;
      }
    }
  }

  __device__ __forceinline__ void mix(const float (&s)[kScoreTiles][4], const T* values, int key0) {
#pragma unroll
    for (int step = 0; step < kPartKeys / 16; ++step) {
      unsigned p[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        p[i] = pack_pair<T>(s[step * 2 + (i >> 1)][(i & 1) * 2], s[step * 2 + (i >> 1)][(i & 1) * 2 + 1]);
#pragma unroll
      for (int j = 0; j < kOutTiles; j += 2) {
        unsigned f[4];
        ldmatrix_x4_trans(f, values + head_slot<kHead>(key0 + step * 16 + (lane() & 15), j + (lane() >> 4)));
        mma_m16n8k16<T>(out[j], p, f[0], f[1]);
        mma_m16n8k16<T>(out[j + 1], p, f[2], f[3]);
      }
    }
  }

  // Warps that hold the same rows under other keys hand what they have to the first of them.
  __device__ __forceinline__ void join(float* shared) {
    if constexpr (kKeyWarps > 1) {
      __syncthreads();
      const int warp = threadIdx.x >> 5;
      if (key_warp() > 0) {
        float* mine = shared + (warp - kRowWarps) * kPartial + lane();
#pragma unroll
        for (int j = 0; j < kOutTiles; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) mine[(j * 4 + e) * 32] = out[j][e];
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          mine[(kOutTiles * 4 + half) * 32] = top[half];
          mine[(kOutTiles * 4 + 2 + half) * 32] = sum[half];
        }
      }
      __syncthreads();
      if (key_warp() > 0) return;
#pragma unroll 1
      for (int other = 0; other < kKeyWarps - 1; ++other) {
        const float* theirs = shared + (other * kRowWarps + warp) * kPartial + lane();
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float top2 = theirs[(kOutTiles * 4 + half) * 32], now = fmaxf(top[half], top2);
          const float shift = now == minus_infinity() ? 0.0f : now;
          const float a = exp2_approx(top[half] - shift), b = exp2_approx(top2 - shift);
          top[half] = now;
          sum[half] = sum[half] * a + theirs[(kOutTiles * 4 + 2 + half) * 32] * b;
#pragma unroll
          for (int j = 0; j < kOutTiles; ++j) {
#pragma unroll
            for (int e = half * 2; e < half * 2 + 2; ++e)
              out[j][e] = out[j][e] * a + theirs[(j * 4 + e) * 32] * b;
          }
        }
      }
    }
  }

  // Rows over their sums, through shared memory, 16 bytes a lane where out allows it.
  __device__ __forceinline__ void write(const AttentionArgs& args, const AttentionWork& work, T* shared) {
    const TensorView& view = args.out;
    __syncthreads();
    if (key_warp() > 0) return;
    T* const stage = shared + row_warp() * 16 * kHead;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float total = sum[half];
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      total += __shfl_xor_sync(0xffffffffu, total, 2);
      const bool zero = total == 0 && (args.zero_empty != 0 || args.k.dims[2] == 0);
      const float factor = 1.0f / total;  // 0 / 0 and 0 * inf: NaN
      const int row = (lane() >> 2) + 8 * half;
#pragma unroll
      for (int j = 0; j < kOutTiles; ++j) {
        // Not out * 0 where the row sees no key: a value that is masked may be infinite.
        const unsigned pair =
            zero ? 0 : pack_pair<T>(out[j][half * 2] * factor, out[j][half * 2 + 1] * factor);
        *reinterpret_cast<unsigned*>(stage + head_slot<kHead>(row, j) + (lane() & 3) * 2) = pair;
      }
    }
    __syncwarp();
    const int width = static_cast<int>(view.dims[3]);
    const int64_t first = work.batch * view.strides[0] + work.head * view.strides[2] +
                          (work.row0 + row_warp() * 16) * view.strides[1];
    T* const to = static_cast<T*>(view.data) + first;
    const bool vector =
        view.strides[3] == 1 && view.strides[1] % 8 == 0 && reinterpret_cast<uintptr_t>(to) % 16 == 0;
#pragma unroll
    for (int i = lane(); i < 16 * (kHead / 8); i += 32) {
      const int row = i / (kHead / 8), chunk = i % (kHead / 8);
      if (row_warp() * 16 + row >= work.rows) continue;
      const T* from = stage + head_slot<kHead>(row, chunk);
      T* at = to + row * view.strides[1] + chunk * 8 * view.strides[3];
      if (vector && chunk * 8 + 8 <= width) {
        *reinterpret_cast<uint4*>(at) = *reinterpret_cast<const uint4*>(from);
      } else {
#pragma unroll 1
        for (int e = 0; e < 8 && chunk * 8 + e < width; ++e) at[e * view.strides[3]] = from[e];
      }
    }
  }

  __device__ __forceinline__ void run(const AttentionArgs& args, const AttentionWork& work, char* memory) {
    T* const shared = reinterpret_cast<T*>(memory);
    T* const queries = shared + (kOwnQueries ? 2 * kStage : 0);
    const int shared_head = work.head / (static_cast<int>(args.q.dims[1]) / static_cast<int>(args.k.dims[1]));
    const HeadRows<T> keys(args.k, work.batch, shared_head), values(args.v, work.batch, shared_head);
    const auto fetch = [&](int stage, int key) {
      keys.template fetch<kKeys, kHead>(shared + stage * kStage, key);
      values.template fetch<kKeys, kHead>(shared + stage * kStage + kKeys * kHead, key);
    };
    __syncthreads();  // the last tile's results have left
    HeadRows<T>(args.q, work.batch, work.head).template fetch<kRows, kHead>(queries, work.row0);
    cp_async_commit();
    if (kOwnQueries && work.keys > 0) fetch(0, 0);
    cp_async_commit();
    kOwnQueries ? cp_async_wait<1>() : cp_async_wait<0>();
    __syncthreads();
    take_queries(queries);
    if (!kOwnQueries) {
      __syncthreads();
      if (work.keys > 0) fetch(0, 0);
      cp_async_commit();
    }
    clear();
    int stage = 0;
#pragma unroll 1
    for (int key = 0; key < work.keys; key += kKeys, stage ^= 1) {
      cp_async_wait<0>();
      __syncthreads();
      if (key + kKeys < work.keys) fetch(stage ^ 1, key + kKeys);
      cp_async_commit();
#pragma unroll 1
      for (int part = 0; part < kWarpKeys; part += kPartKeys) {
        const int key0 = key_warp() * kWarpKeys + part;
        float s[kScoreTiles][4];
        multiply(s, shared + stage * kStage, key0);
        mask(args, work, key + key0, s);
        advance(s);
        mix(s, shared + stage * kStage + kKeys * kHead, key0);
      }
    }
    cp_async_wait<0>();
    join(reinterpret_cast<float*>(memory));
    write(args, work, shared);
  }
};

// Fits in an int: the row's check has asked.
__device__ __forceinline__ int attention_tiles(const AttentionArgs& args, int rows) {
  return (static_cast<int>(args.q.dims[2]) + rows - 1) / rows * static_cast<int>(args.q.dims[0]) *
         static_cast<int>(args.q.dims[1]);
}

template <class T, int kHead, int kKeys, int kRowWarps>
__device__ __forceinline__ void attention_loop(const AttentionArgs& args, char* memory) {
  const int tiles = attention_tiles(args, 16 * kRowWarps);
#pragma unroll 1
  for (int item = static_cast<int>(blockIdx.x); item < tiles; item += static_cast<int>(gridDim.x)) {
    const AttentionWork work(args.q.dims[2], args.q.dims[1], args.k.dims[2], args.causal, item,
                             16 * kRowWarps);
    AttentionTile<T, kHead, kKeys, kRowWarps> tile;
    tile.run(args, work, memory);
  }
}

// Fewer tiles than this leave multiprocessors of a large GPU idle.
inline constexpr int kEnoughAttentionTiles = 120;

template <class T, int kHead, int kKeys>
__device__ __forceinline__ void attention_of_head(const AttentionArgs& args, char* memory) {
  // Causal tiles differ in length: of twice as many, a long one shares its multiprocessor with a short one.
  const int enough = kKeys > 32 && args.causal != 0 ? 2 * kEnoughAttentionTiles : kEnoughAttentionTiles;
  if (attention_tiles(args, 128) >= enough)
    attention_loop<T, kHead, kKeys, 8>(args, memory);
  else if (kKeys == 32 || attention_tiles(args, 64) >= enough)
    attention_loop<T, kHead, kKeys, 4>(args, memory);
  else if constexpr (kKeys > 32)
    attention_loop<T, kHead, kKeys, 2>(args, memory);
}

// kLargest: of the heads that an entry takes; smaller ones in steps of 32.
template <class T, int kLargest>
__device__ __forceinline__ void attention_mma(const AttentionArgs& args) {
  __shared__ __align__(128) char memory[kAttentionShared];
  if (blockDim.x != 256) return;
  launch_dependents();
  wait_for_predecessor();
  const int64_t size = args.q.dims[3] > args.v.dims[3] ? args.q.dims[3] : args.v.dims[3];
  if (size <= kLargest - 32)
    attention_of_head<T, kLargest - 32, kLargest == 64 ? 64 : 32>(args, memory);
  else
    attention_of_head<T, kLargest, kLargest == 64 ? 64 : 32>(args, memory);
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256, 2)
    ge_attention_mma64_f16(const __grid_constant__ ge::kernels::AttentionArgs args) {
  ge::kernels::attention_mma<ge::kernels::Half, 64>(args);
}
extern "C" __global__ void __launch_bounds__(256, 2)
    ge_attention_mma64_bf16(const __grid_constant__ ge::kernels::AttentionArgs args) {
  ge::kernels::attention_mma<ge::kernels::BHalf, 64>(args);
}
extern "C" __global__ void __launch_bounds__(256, 1)
    ge_attention_mma128_f16(const __grid_constant__ ge::kernels::AttentionArgs args) {
  ge::kernels::attention_mma<ge::kernels::Half, 128>(args);
}
extern "C" __global__ void __launch_bounds__(256, 1)
    ge_attention_mma128_bf16(const __grid_constant__ ge::kernels::AttentionArgs args) {
  ge::kernels::attention_mma<ge::kernels::BHalf, 128>(args);
}
