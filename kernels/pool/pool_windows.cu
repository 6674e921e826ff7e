// pool_windows_sm80: max or average pooling, one thread a result. Float32, float16 and bfloat16 in float;
// every other type, in double or int64. Any strides, one to three spatial axes. 256 threads.
#include "kernels/device/element.cuh"
#include "kernels/device/index.cuh"
#include "kernels/pool/pool.h"

namespace ge::kernels {

struct PoolReach {  // the window's steps inside the input, per axis
  int64_t start, first, count, padded;
  __device__ PoolReach(const PoolArgs& a, int s, int64_t at) {
    const int64_t dilation = a.window.dilations[s], kernel = a.kernel[s], extent = a.x.dims[2 + s];
    start = at * a.window.strides[s] - a.window.pads_begin[s];
    const auto steps =
        [&](int64_t distance) {  // smallest k with k * dilation >= distance, within [0, kernel]
          if (distance <= 0) return int64_t{0};
          const int64_t k = (distance + dilation - 1) / dilation;
          return k < kernel ? k : kernel;
        };
    first = steps(-start);
    const int64_t last = steps(extent - start);
    count = last > first ? last - first : 0;
    padded = steps(extent + a.pads_end[s] - start);
  }
};

// T: what is accumulated; load: element offset of x -> T. Spatial axes are right-aligned into three, with
// constant indices (a variable one would put the arrays into local memory).
template <class T, class Load>
__device__ __forceinline__ T pool_one(const PoolArgs& a, int64_t base, const int64_t (&at)[kMaxSpatial],
                                      int spatial, T lowest, Load load) {
  int64_t count[kMaxSpatial], step[kMaxSpatial], inside = 1, padded = 1;
#pragma unroll
  for (int t = 0; t < kMaxSpatial; ++t) {
    const int s = t - (kMaxSpatial - spatial);
    count[t] = 1, step[t] = 0;
    if (s < 0) continue;
    const PoolReach r(a, s, at[t]);
    base += (r.start + r.first * a.window.dilations[s]) * a.x.strides[2 + s];
    step[t] = a.window.dilations[s] * a.x.strides[2 + s];
    count[t] = r.count;
    inside *= r.count;
    padded *= r.padded;
  }
  T best = lowest, sum = 0;
  for (int64_t i = 0; i < count[0]; ++i) {
    for (int64_t j = 0; j < count[1]; ++j) {
#pragma unroll 1
      for (int64_t k = 0; k < count[2]; ++k) {
        const T v = load(base + i * step[0] + j * step[1] + k * step[2]);
        best = v > best || v != v ? v : best;
        sum += v;
      }
    }
  }
  if (a.kind == static_cast<int64_t>(PoolKind::kMax)) return best;
  const int64_t divisor = a.count_include_pad != 0 ? padded : inside;
  return divisor == 0 ? T(0) : sum / static_cast<T>(divisor);
}

// kLast: channels that stand side by side are neighbouring threads' work.
template <bool kLast, class T, class Load, class Store>
__device__ __forceinline__ void pool_all(const PoolArgs& a, T lowest, Load load, Store store) {
  const int spatial = a.y.rank - 2;
  const int64_t total = count_of(a.y.dims, a.y.rank);
  const bool channels_last = kLast && a.y.strides[1] == 1 && a.y.strides[a.y.rank - 1] != 1;
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    // Neighbouring threads take neighbouring positions of one channel, or channels of one position.
    int64_t rest = i, at[kMaxSpatial], y = 0, channel = channels_last ? split(rest, a.y.dims[1]) : 0;
#pragma unroll
    for (int t = kMaxSpatial - 1; t >= 0; --t) {
      const int s = t - (kMaxSpatial - spatial);
      at[t] = 0;
      if (s < 0) continue;
      at[t] = split(rest, a.y.dims[2 + s]);
      y += at[t] * a.y.strides[2 + s];
    }
    if (!channels_last) channel = split(rest, a.y.dims[1]);
    y += rest * a.y.strides[0] + channel * a.y.strides[1];
    store(y, pool_one(a, rest * a.x.strides[0] + channel * a.x.strides[1], at, spatial, lowest, load));
  }
}

template <class T>
__device__ void pool_floats(const PoolArgs& a) {
  pool_all<true>(
      a, -__int_as_float(0x7f800000), [&](int64_t x) { return to_float(*pointer_to<T>(a.x, x)); },
      [&](int64_t y, float v) { static_cast<T*>(a.y.data)[y] = from_float<T>(v); });
}

__device__ inline int64_t lowest_integer(DType dtype) {
  switch (dtype) {
    case DType::int64:
      return -0x7fffffffffffffffLL - 1;
    case DType::int32:
      return -0x80000000LL;
    case DType::int16:
      return -32768;
    case DType::int8:
      return -128;
    default:
      return 0;
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_pool_windows(const __grid_constant__ ge::kernels::PoolArgs args) {
  using namespace ge::kernels;
  switch (args.x.dtype) {
    case ge::DType::float32:
      return pool_floats<float>(args);
    case ge::DType::float16:
      return pool_floats<Half>(args);
    case ge::DType::bfloat16:
      return pool_floats<BHalf>(args);
    case ge::DType::float64:
      return pool_all<false>(
          args, -__longlong_as_double(0x7ff0000000000000LL), [&](int64_t x) { return load_real(args.x, x); },
          [&](int64_t y, double v) { store_real(args.y, y, v); });
    default:
      return pool_all<false>(
          args, lowest_integer(args.x.dtype), [&](int64_t x) { return load_integer(args.x, x); },
          [&](int64_t y, int64_t v) { store_integer(args.y, y, v); });
  }
}
