// reduce_generic_sm80: every kind over any axes and types, one warp a result, in double or int64. The order
// is fixed: lane l folds elements l, l + 32, ... and lanes are folded as a tree. 256 threads.
#include "kernels/device/element.cuh"
#include "kernels/device/index.cuh"
#include "kernels/reduce/reduce.h"

namespace ge::kernels {

template <class T>
__device__ __forceinline__ bool less_than(T a, T b, bool is_unsigned) {
  if constexpr (static_cast<T>(0.5) != 0)
    return a < b;
  else
    return is_unsigned ? static_cast<unsigned long long>(a) < static_cast<unsigned long long>(b) : a < b;
}

// A fold's state: the value, and for arg max/min its position (-1: nothing yet). NaN wins; of NaNs the first.
template <class T>
struct Folded {
  T value;
  int64_t position;
};

struct FoldRule {
  ReduceKind kind;
  bool is_unsigned, last;
  template <class T>
  __device__ __forceinline__ void take(Folded<T>& into, const Folded<T>& other) const {
    switch (kind) {
      case ReduceKind::kSum:
      case ReduceKind::kMean:
        into.value += other.value;
        return;
      case ReduceKind::kProd:
        into.value *= other.value;
        return;
      default:
        break;
    }
    if (other.position < 0) return;
    const bool max = kind == ReduceKind::kMax || kind == ReduceKind::kArgMax;
    bool better = into.position < 0;
    if (!better) {
      const bool nan = other.value != other.value, has_nan = into.value != into.value;
      if (nan || has_nan) {
        better = nan && (!has_nan || other.position < into.position);
      } else if (other.value == into.value) {
        better = last ? other.position > into.position : other.position < into.position;
      } else {
        better = max ? less_than(into.value, other.value, is_unsigned)
                     : less_than(other.value, into.value, is_unsigned);
      }
    }
    if (better) into = other;
  }
};

template <class T>
__device__ T neutral(DType dtype, ReduceKind kind) {
  const bool max = kind == ReduceKind::kMax;
  if (kind == ReduceKind::kProd) return 1;
  if (!max && kind != ReduceKind::kMin) return 0;
  if constexpr (static_cast<T>(0.5) != 0) {
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    return max ? -infinity : infinity;
  } else {
    switch (dtype) {
      case DType::int64:
        return max ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL;
      case DType::int32:
        return max ? -0x80000000LL : 0x7fffffffLL;
      case DType::int16:
        return max ? -32768 : 32767;
      case DType::int8:
        return max ? -128 : 127;
      case DType::uint64:
        return max ? 0 : -1;
      case DType::uint32:
        return max ? 0 : 0xffffffffLL;
      case DType::uint16:
        return max ? 0 : 0xffff;
      case DType::boolean:
        return max ? 0 : 1;
      default:
        return max ? 0 : 0xff;
    }
  }
}

// Element offset of position `linear` of the reduced axes, row-major. They are picked on the way: a list of
// them would stand in local memory.
__device__ __forceinline__ int64_t reduced_offset(const ReduceArgs& a, int64_t linear) {
  int64_t offset = 0;
#pragma unroll 1
  for (int i = a.in.rank - 1; i >= 0; --i)
    if (((a.axes >> i) & 1) != 0) offset += split(linear, a.in.dims[i]) * a.in.strides[i];
  return offset;
}

template <class T>
__device__ void reduce_generic(const ReduceArgs& a) {
  int64_t count = 1;
  for (int i = 0; i < a.in.rank; ++i)
    if (((a.axes >> i) & 1) != 0) count *= a.in.dims[i];
  const auto kind = static_cast<ReduceKind>(a.kind);
  const FoldRule rule{kind, a.in.dtype == DType::uint64, a.select_last != 0};
  const bool summing = kind == ReduceKind::kSum || kind == ReduceKind::kMean || kind == ReduceKind::kProd;
  const bool positions = kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
  const int lane = threadIdx.x & 31;
  const int64_t total = count_of(a.out.dims, a.out.rank), warps = grid_step() >> 5;
  for (int64_t i = grid_begin() >> 5; i < total; i += warps) {
    const int64_t base = offset_of(i, a.out.dims, a.out.rank, a.in.strides);
    Folded<T> folded{summing ? neutral<T>(a.in.dtype, kind) : T(0), -1};
    for (int64_t k = lane; k < count; k += 32)
      rule.take(folded, Folded<T>{load_element<T>(a.in, base + reduced_offset(a, k)), k});
    for (int distance = 16; distance > 0; distance >>= 1) {
      const Folded<T> other{__shfl_down_sync(0xffffffffu, folded.value, distance),
                            static_cast<int64_t>(__shfl_down_sync(
                                0xffffffffu, static_cast<long long>(folded.position), distance))};
      rule.take(folded, other);
    }
    if (lane != 0) continue;
    const int64_t to = offset_of(i, a.out.dims, a.out.rank, a.out.strides);
    if (positions) {
      store_integer(a.out, to, folded.position < 0 ? 0 : folded.position);
      continue;
    }
    if (!summing && folded.position < 0) folded.value = neutral<T>(a.in.dtype, kind);
    if (kind == ReduceKind::kMean) {
      if constexpr (static_cast<T>(0.5) != 0)
        folded.value /= static_cast<T>(count);
      else if (count == 0)
        folded.value = 0;
      else if (rule.is_unsigned)
        folded.value = static_cast<int64_t>(static_cast<unsigned long long>(folded.value) /
                                            static_cast<unsigned long long>(count));
      else
        folded.value /= count;
    }
    store_element(a.out, to, folded.value);
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_reduce_generic(const __grid_constant__ ge::kernels::ReduceArgs args) {
  using namespace ge::kernels;
  if (blockDim.x % 32 != 0) return;
  if (is_real(args.in.dtype))
    reduce_generic<double>(args);
  else
    reduce_generic<int64_t>(args);
}
