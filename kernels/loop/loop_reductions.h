// Reductions over the threads of a row: what is joined and how, over lanes, a block, or a block's columns.
// Text for NVRTC, after loop_device.h. Entry: namespace ge::loop: Sum, Prod, Max, Min, Arg; over_lanes,
// over_block, over_columns. Invariant: every thread that takes part gets the same result.
#ifndef GE_KERNELS_LOOP_REDUCTIONS_H
#define GE_KERNELS_LOOP_REDUCTIONS_H

namespace ge {
namespace loop {

template <class T>
GE_FN T lowest() {
  if constexpr (IsFloat<T>::kValue)
    return static_cast<T>(__int_as_float(static_cast<int>(0xff800000u)));
  else if constexpr (IsBool<T>::kValue)
    return false;
  else
    return Limits<T>::kLow;
}
template <class T>
GE_FN T highest() {
  if constexpr (IsFloat<T>::kValue)
    return static_cast<T>(__int_as_float(0x7f800000));
  else if constexpr (IsBool<T>::kValue)
    return true;
  else
    return Limits<T>::kHigh;
}
// One instruction for float; of zeros it takes +0 as the greater, where the scalar functions take the second.
template <class T>
GE_FN T greater(T a, T b) {
  return scalar::max<T>(a, b);
}
template <class T>
GE_FN T smaller(T a, T b) {
  return scalar::min<T>(a, b);
}
GE_FN float greater(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
GE_FN float smaller(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
template <class T>
struct Sum {
  using Type = T;
  static GE_FN T start() { return T(0); }
  static GE_FN T join(T a, T b) { return scalar::add<T>(a, b); }
};
template <class T>
struct Prod {
  using Type = T;
  static GE_FN T start() { return T(1); }
  static GE_FN T join(T a, T b) { return scalar::mul<T>(a, b); }
};
template <class T>
struct Max {
  using Type = T;
  static GE_FN T start() { return lowest<T>(); }
  static GE_FN T join(T a, T b) { return greater(a, b); }
};
template <class T>
struct Min {
  using Type = T;
  static GE_FN T start() { return highest<T>(); }
  static GE_FN T join(T a, T b) { return smaller(a, b); }
};
// An element with its position in the row; position -1: none. NaN is best; of NaNs the first, of
// other equals the first, or the last.
template <class T>
struct Best {
  T value;
  long long position;
};
template <class T, bool kMax, bool kLast>
struct Arg {
  using Type = Best<T>;
  static GE_FN Type start() { return {T(0), -1}; }
  static GE_FN Type join(Type a, Type b) {
    if (a.position < 0) return b;
    if (b.position < 0) return a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool same = a_nan ? b_nan : a.value == b.value;
    if (same) return (a.position < b.position) != (kLast && !a_nan) ? a : b;
    const bool a_wins = a_nan || (!b_nan && (kMax ? a.value > b.value : a.value < b.value));
    return a_wins ? a : b;
  }
};
template <class T>
GE_FN long long position_of(Best<T> best) {
  return best.position < 0 ? 0 : best.position;
}

template <class T>
GE_FN T from_lane(T x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}
GE_FN bool from_lane(bool x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x ? 1 : 0, mask) != 0;
}
template <class T>
GE_FN Best<T> from_lane(Best<T> x, int mask) {
  return {from_lane(x.value, mask), from_lane(x.position, mask)};
}

// Over the kThreads (a power of two up to 32) neighbouring lanes of a row; every lane of the warp takes part
// and gets the result.
template <class Join, int kThreads>
GE_FN typename Join::Type over_lanes(typename Join::Type x) {
#pragma unroll
  for (int mask = kThreads / 2; mask > 0; mask /= 2) x = Join::join(x, from_lane(x, mask));
  return x;
}
// Over the block; `shared` holds one value a warp. One barrier: it may be written again only past another
// one, so two reductions in a row take one `shared` each.
template <class Join, int kThreads>
GE_FN typename Join::Type over_block(typename Join::Type x, void* shared) {
  using T = typename Join::Type;
  constexpr int kWarps = kThreads / 32;
  constexpr int kLanes = kWarps > 16 ? 32 : kWarps > 8 ? 16 : kWarps > 4 ? 8 : kWarps > 2 ? 4 : kWarps;
  T* warps = static_cast<T*>(shared);
  x = over_lanes<Join, 32>(x);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  const int lane = threadIdx.x % kLanes;
  x = kLanes == kWarps || lane < kWarps ? warps[lane] : Join::start();
  return over_lanes<Join, kLanes>(x);
}
// Over threadIdx.y of a kLanes x kRows block; `shared` holds one value a thread.
template <class Join, int kLanes, int kRows>
GE_FN typename Join::Type over_columns(typename Join::Type x, void* shared) {
  using T = typename Join::Type;
  T* values = static_cast<T*>(shared);
  values[threadIdx.y * kLanes + threadIdx.x] = x;
#pragma unroll
  for (int half = kRows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half)
      values[threadIdx.y * kLanes + threadIdx.x] = Join::join(
          values[threadIdx.y * kLanes + threadIdx.x], values[(threadIdx.y + half) * kLanes + threadIdx.x]);
  }
  __syncthreads();
  x = values[threadIdx.x];
  __syncthreads();
  return x;
}

}  // namespace loop
}  // namespace ge
#endif
