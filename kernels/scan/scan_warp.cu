// scan_warp_sm80: sums along an axis, in double or int64. Where there are columns for every lane, or the axis
// is short, a thread takes a column, and neighbours take neighbouring ones; else a warp takes a column, 32
// elements at a time, each step a tree over the lanes onto the sum so far. The order is fixed for given
// sizes. Any types and strides; 256 threads.
#include "kernels/device/element.cuh"
#include "kernels/device/index.cuh"
#include "kernels/scan/scan.h"

namespace ge::kernels {

inline constexpr int64_t kShortAxis = 32;         // no work for a warp
inline constexpr int64_t kManyColumns = 1 << 15;  // enough to fill the GPU by threads

struct ScanColumn {
  int64_t in = 0, out = 0;
};
__device__ __forceinline__ ScanColumn column_at(const ScanArgs& a, int64_t number) {
  ScanColumn c;
  for (int i = a.in.rank - 1; i >= 0; --i) {
    if (i == a.axis) continue;
    const int64_t at = split(number, a.in.dims[i]);
    c.in += at * a.in.strides[i];
    c.out += at * a.out.strides[i];
  }
  return c;
}

template <class T>
__device__ __forceinline__ T shuffled_up(T value, int distance) {
  if constexpr (static_cast<T>(0.5) != 0)
    return __shfl_up_sync(0xffffffffu, value, distance);
  else
    return static_cast<T>(__shfl_up_sync(0xffffffffu, static_cast<long long>(value), distance));
}
template <class T>
__device__ __forceinline__ T shuffled(T value, int lane) {
  if constexpr (static_cast<T>(0.5) != 0)
    return __shfl_sync(0xffffffffu, value, lane);
  else
    return static_cast<T>(__shfl_sync(0xffffffffu, static_cast<long long>(value), lane));
}

// `width` lanes take a column together: 1 or 32, the same for the whole grid.
template <class T>
__device__ void scan(const ScanArgs& a, int width, int64_t columns, int64_t extent) {
  const int lane = width == 1 ? 0 : threadIdx.x & 31;
  for (int64_t n = grid_begin() / width; n < columns; n += grid_step() / width) {
    const ScanColumn c = column_at(a, n);
    T sum = 0;
    for (int64_t base = 0; base < extent; base += width) {
      const int64_t k = base + lane, i = a.reverse != 0 ? extent - 1 - k : k;
      T value = k < extent ? load_element<T>(a.in, c.in + i * a.in.strides[a.axis]) : T(0);
      T before = 0, all = value;  // of this step: sums of the lanes below, and of all
      if (width != 1) {
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
          const T below = shuffled_up(value, distance);
          if (lane >= distance) value += below;
        }
        before = shuffled_up(value, 1);
        all = shuffled(value, 31);
      }
      const T result = a.exclusive == 0 ? sum + value : lane == 0 ? sum : sum + before;
      if (k < extent) store_element(a.out, c.out + i * a.out.strides[a.axis], result);
      sum += all;
    }
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_scan_warp(const __grid_constant__ ge::kernels::ScanArgs args) {
  using namespace ge::kernels;
  if (blockDim.x % 32 != 0) return;
  const int64_t total = count_of(args.in.dims, args.in.rank);
  if (total == 0) return;
  const int64_t extent = args.in.dims[args.axis], columns = total / extent;
  const bool alone = extent <= kShortAxis || (columns >= kManyColumns && args.in.strides[args.axis] != 1);
  if (is_real(args.in.dtype))
    scan<double>(args, alone ? 1 : 32, columns, extent);
  else
    scan<int64_t>(args, alone ? 1 : 32, columns, extent);
}
