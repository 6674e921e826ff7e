// out = act(lhs rhs + bias + residual) for few rows: rhs is read once, as fast as memory gives it; float
// sums. Entry: dot_stream<T, kRows, kByDepth>. A cluster of S blocks (S = 1 before sm_90) computes a strip of
// columns, each block a part of the depth; clusters loop over strips and groups of kRows rows. 256 threads.
// rhs dense along n: 4 threads stand side by side along a strip of 4 vectors of 16 bytes, 64 along the depth,
// each 8 rows of rhs at once. Dense along k: all stand along the depth, a vector each of the strip's 8
// columns. Either way a thread has 8 loads under way, asks for the next as soon as it has used one, and where
// args.early allows it asks for the first before the launch's predecessor is done.
//
// Sums are added in one order: within a thread along the depth, over the lanes of a warp by halves, over
// warps ascending, over the cluster's blocks ascending (which send theirs to the first one's shared memory;
// its barrier `received` counts the bytes). Same bits in every run.
#pragma once
#include "kernels/device/activation.cuh"
#include "kernels/device/element.cuh"
#include "kernels/device/hopper.cuh"
#include "kernels/dot/dot_stream.h"

namespace ge::kernels {

// Constant while the kernel runs.
__device__ __forceinline__ uint4 load_stream(const void* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}
// What another kernel may have written: not through the read-only path.
template <class T>
__device__ __forceinline__ T load_fresh(const T* from) {
  return *static_cast<const volatile T*>(from);
}
template <>
__device__ __forceinline__ Half load_fresh<Half>(const Half* from) {
  return {load_fresh(&from->bits)};
}
template <>
__device__ __forceinline__ BHalf load_fresh<BHalf>(const BHalf* from) {
  return {load_fresh(&from->bits)};
}
template <>
__device__ __forceinline__ uint4 load_fresh<uint4>(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}

// Two neighbours as floats.
template <class T>
struct StreamPair {
  static __device__ __forceinline__ float2 of(unsigned word) {
    return {to_float(T{static_cast<unsigned short>(word)}),
            to_float(T{static_cast<unsigned short>(word >> 16)})};
  }
  static __device__ __forceinline__ float2 of(const uint4& v, int pair) {
    return of(pair == 0 ? v.x : pair == 1 ? v.y : pair == 2 ? v.z : v.w);
  }
  static __device__ __forceinline__ float2 at(const T* from) {
    return of(*reinterpret_cast<const unsigned*>(from));
  }
};
template <>
struct StreamPair<float> {
  static __device__ __forceinline__ float2 of(const uint4& v, int pair) {
    return {__uint_as_float(pair == 0 ? v.x : v.z), __uint_as_float(pair == 0 ? v.y : v.w)};
  }
  static __device__ __forceinline__ float2 at(const float* from) {
    return *reinterpret_cast<const float2*>(from);
  }
};

template <class T, int kRows, bool kByDepth>
struct Stream {
  static constexpr StreamShape kShape{sizeof(T), kByDepth};
  static constexpr int kVector = kShape.vector(), kAcross = kShape.across(), kStrip = kShape.strip(),
                       kGroup = kShape.group(), kThreads = kShape.threads(), kAlong = kThreads / kAcross;
  static constexpr int kColumns = kByDepth ? kStreamLoads : kVector;  // of a thread
  static constexpr int kSums = kRows * kColumns, kOut = kRows * kStrip, kWarps = kThreads / 32;
  static constexpr int kChunk = 2048;  // of the depth, as much of the rows as shared memory holds at once
  static constexpr int kPasses = kChunk / kShape.pass();  // of a chunk
  static_assert(kChunk % kShape.pass() == 0 && kOut <= kThreads && kOut % 4 == 0);

  struct alignas(16) Shared {
    T rows[kRows][kChunk];
    float parts[kWarps][kOut];
    float slots[kStreamMaxSplit][kOut];  // of the cluster's blocks, used in the first one
    unsigned long long received;
  };

  const DotStreamArgs& args;
  Shared& shared;
  int rank, split, along, lane_column;  // lane_column: of the strip, this thread's first
  int first_group, last_group;          // of the depth, this block's
  int row0, column0;
  const char* from;  // of the next load
  int live;
  uint4 loads[kStreamLoads];
  float sums[kRows][kColumns];

  __device__ __forceinline__ Stream(const DotStreamArgs& a, Shared& s) : args(a), shared(s) {}

  // -- the right side --
  // The loads that will be asked for next are those of depth group g, `live` of them inside the matrix; the
  // rest are zero.
  __device__ __forceinline__ void look_at(int g) {
    const int64_t k = static_cast<int64_t>(g) * kGroup, column = column0 + lane_column;
    from = static_cast<const char*>(args.rhs) +
           (kByDepth ? column * args.rhs_step + k : k * args.rhs_step + column) * static_cast<int>(sizeof(T));
    const int64_t inside = kByDepth ? args.columns - column : args.depth - k;
    live = g < last_group && k < args.depth && column < args.columns
               ? static_cast<int>(min(inside, static_cast<int64_t>(kStreamLoads)))
               : 0;
  }
  __device__ __forceinline__ void ask(int load) {
    loads[load] = load < live ? load_stream(from) : uint4{0, 0, 0, 0};
    from += args.rhs_step * static_cast<int>(sizeof(T));
  }
  __device__ __forceinline__ void ask_all() {
#pragma unroll
    for (int i = 0; i < kStreamLoads; ++i) ask(i);
  }

  // -- the left side --
  // Depth [first_group + pass0 * kAlong groups, ...) of kRows rows to shared memory, zeros beyond both ends.
  __device__ __forceinline__ void stage_rows(int pass0) {
    const int64_t k0 = (first_group + static_cast<int64_t>(pass0) * kAlong) * kGroup;
    const int64_t left = min(static_cast<int64_t>(last_group) * kGroup, args.depth) - k0;
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
      const T* from = static_cast<const T*>(args.lhs) + (row0 + m) * args.lhs_step + k0;
      const int64_t count = row0 + m < args.rows ? left : 0;
      for (int at = static_cast<int>(threadIdx.x) * kVector; at < kChunk && at < left + kVector;
           at += kThreads * kVector) {
        T* to = &shared.rows[m][at];
        if (at + kVector <= count) {
          *reinterpret_cast<uint4*>(to) = load_fresh(reinterpret_cast<const uint4*>(from + at));
        } else {
          for (int e = 0; e < kVector; ++e) to[e] = at + e < count ? load_fresh(from + at + e) : T{};
        }
      }
    }
  }

  // -- products --
  // This thread's group of a pass; the next one's loads are asked for on the way.
  __device__ __forceinline__ void multiply(int at) {
    if constexpr (kByDepth) {
#pragma unroll
      for (int p = 0; p < kVector / 2; ++p) {
        float2 x[kRows];
#pragma unroll
        for (int m = 0; m < kRows; ++m) x[m] = StreamPair<T>::at(&shared.rows[m][at + 2 * p]);
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          const float2 w = StreamPair<T>::of(loads[c], p);
#pragma unroll
          for (int m = 0; m < kRows; ++m) sums[m][c] = fmaf(w.y, x[m].y, fmaf(w.x, x[m].x, sums[m][c]));
        }
      }
      ask_all();
    } else {
#pragma unroll
      for (int u = 0; u < kStreamLoads; u += 2) {
        float2 x[kRows];
#pragma unroll
        for (int m = 0; m < kRows; ++m) x[m] = StreamPair<T>::at(&shared.rows[m][at + u]);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
          for (int p = 0; p < kVector / 2; ++p) {
            const float2 w = StreamPair<T>::of(loads[u + half], p);
#pragma unroll
            for (int m = 0; m < kRows; ++m) {
              const float v = half == 0 ? x[m].x : x[m].y;
              sums[m][2 * p] = fmaf(w.x, v, sums[m][2 * p]);
              sums[m][2 * p + 1] = fmaf(w.y, v, sums[m][2 * p + 1]);
            }
          }
          ask(u + half);
        }
      }
    }
  }
  __device__ __forceinline__ void multiply_all() {
#pragma unroll
    for (int m = 0; m < kRows; ++m)
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums[m][c] = 0;
    const int passes = (last_group - first_group + kAlong - 1) / kAlong;
    int g = first_group + along;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass, g += kAlong) {
      const int of_chunk = pass % kPasses;
      if (of_chunk == 0) {
        if (pass > 0) __syncthreads();
        stage_rows(pass);
        __syncthreads();
      }
      // Groups that are not there are left out: their zeros would make NaN of what is staged.
      if (g >= last_group) continue;
      look_at(g + kAlong);
      multiply((of_chunk * kAlong + along) * kGroup);
    }
  }

  // -- sums over lanes, warps and blocks --
  // Each lane gives half of what it holds away while there is more than one, so that lanes end with different
  // ones of the warp's sums.
  template <int kHeld, int kDistance>
  __device__ __forceinline__ void add_lanes(float* held, int& index) const {
    if constexpr (kDistance >= kAcross) {
      const bool upper = (threadIdx.x & kDistance) != 0;
      if constexpr (kHeld > 1) {
#pragma unroll
        for (int i = 0; i < kHeld / 2; ++i) {
          const float keep = upper ? held[kHeld / 2 + i] : held[i],
                      give = upper ? held[i] : held[kHeld / 2 + i];
          held[i] = keep + __shfl_xor_sync(0xffffffffu, give, kDistance);
        }
        index += upper ? kHeld / 2 : 0;
        add_lanes<kHeld / 2, kDistance / 2>(held, index);
      } else {
        held[0] += __shfl_xor_sync(0xffffffffu, held[0], kDistance);
        add_lanes<1, kDistance / 2>(held, index);
      }
    }
  }
  static constexpr int kLanes = 32 / kAcross;  // that a column's sums are spread over
  static constexpr int kKept = kSums > kLanes ? kSums / kLanes : 1;
  __device__ __forceinline__ void put_parts() {
    int index = 0;
    add_lanes<kSums, 16>(&sums[0][0], index);
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
      const int sum = index + i, m = sum / kColumns, c = sum % kColumns;
      shared.parts[threadIdx.x / 32][m * kStrip + lane_column + c] = (&sums[0][0])[i];
    }
    __syncthreads();
  }
  __device__ __forceinline__ float over_warps(int o) const {
    float sum = shared.parts[0][o];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) sum += shared.parts[w][o];
    return sum;
  }
#ifdef GE_SM90A
  __device__ __forceinline__ unsigned received() const {
    return shared_address(&shared.received);
  }
  __device__ __forceinline__ void expect_parts() const {
    if (rank == 0 && threadIdx.x == 0) barrier_expect(received(), split * kOut * 4);
  }
  __device__ __forceinline__ void send_parts() const {
    const int o = static_cast<int>(threadIdx.x) * 4;
    if (o < kOut)
      send_to(in_block(shared_address(&shared.slots[rank][o]), 0), in_block(received(), 0), over_warps(o),
              over_warps(o + 1), over_warps(o + 2), over_warps(o + 3));
  }
#endif

  // What thread o < kOut of the first block finishes: row o / kStrip, column o % kStrip of the strip.
  __device__ __forceinline__ bool finishes() const {
    const int o = static_cast<int>(threadIdx.x);
    return rank == 0 && o < kOut && row0 + o / kStrip < args.rows && column0 + o % kStrip < args.columns;
  }
  __device__ __forceinline__ float added() const {
    const int o = static_cast<int>(threadIdx.x), row = row0 + o / kStrip, column = column0 + o % kStrip;
    if (!finishes()) return 0;
    float sum = 0;
    if (args.bias != nullptr) sum += to_float(load_fresh(static_cast<const T*>(args.bias) + column));
    if (args.residual != nullptr)
      sum += to_float(load_fresh(static_cast<const T*>(args.residual) + row * args.residual_step + column));
    return sum;
  }
  __device__ __forceinline__ void finish(float sum) const {
    const int o = static_cast<int>(threadIdx.x), row = row0 + o / kStrip, column = column0 + o % kStrip;
    static_cast<T*>(args.out)[row * args.out_step + column] = from_float<T>(activate(args.activation, sum));
  }

  __device__ __forceinline__ void run() {
    launch_dependents();
    int cluster = static_cast<int>(blockIdx.x), clusters = static_cast<int>(gridDim.x);
    rank = 0, split = 1;
#ifdef GE_SM90A
    const ClusterPlace place = cluster_place();
    rank = place.rank, split = place.size, cluster = place.cluster, clusters = place.clusters;
    if (split > 1) {
      if (threadIdx.x == 0) {
        barrier_init(received(), 1);
        barriers_made();
      }
      __syncwarp();  // racecheck does not see that one thread does both
      expect_parts();
      cluster_arrive();
    }
#endif
    along = static_cast<int>(threadIdx.x) / kAcross;
    lane_column = kByDepth ? 0 : static_cast<int>(threadIdx.x) % kAcross * kVector;
    const auto groups = static_cast<int>((args.depth + kGroup - 1) / kGroup);
    first_group = static_cast<int>(static_cast<int64_t>(groups) * rank / split);
    last_group = static_cast<int>(static_cast<int64_t>(groups) * (rank + 1) / split);
    const auto strips = static_cast<int>((args.columns + kStrip - 1) / kStrip),
               row_groups = static_cast<int>((args.rows + kRows - 1) / kRows);
    [[maybe_unused]] unsigned parity = 0;
    bool first = true;
#pragma unroll 1
    for (int tile = cluster; tile < strips * row_groups; tile += clusters, first = false) {
      column0 = tile % strips * kStrip, row0 = tile / strips * kRows;
      if (first && args.early == 0) wait_for_predecessor();
      look_at(first_group + along);
      ask_all();
      if (first && args.early != 0) wait_for_predecessor();
      const float start = added();
      multiply_all();
      put_parts();
      const bool more = tile + clusters < strips * row_groups;
#ifdef GE_SM90A
      if (split > 1) {
        if (first) cluster_wait();
        send_parts();
        if (rank == 0) {
          barrier_wait_for_cluster(received(), parity);
          parity ^= 1;
          if (finishes()) {
            float sum = 0;
            for (int s = 0; s < split; ++s) sum += shared.slots[s][threadIdx.x];
            finish(sum + start);
          }
          if (more) expect_parts();
        }
        if (more) cluster_arrive(), cluster_wait();
        continue;
      }
#endif
      if (finishes()) finish(over_warps(static_cast<int>(threadIdx.x)) + start);
      if (more) __syncthreads();
    }
    if (first) wait_for_predecessor();
#ifdef GE_SM90A
    if (split > 1 && first) cluster_wait();
#endif
  }
};

template <class T, int kRows, bool kByDepth>
__device__ __forceinline__ void dot_stream(const DotStreamArgs& args) {
  __shared__ typename Stream<T, kRows, kByDepth>::Shared shared;
  if (blockDim.x != StreamShape{sizeof(T), kByDepth}.threads()) return;
  Stream<T, kRows, kByDepth>(args, shared).run();
}

}  // namespace ge::kernels
