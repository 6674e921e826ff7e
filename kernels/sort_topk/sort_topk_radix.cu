// sort_topk_radix_sm80: one block a column. Elements become unsigned keys, smaller is better. The k-th best
// key is found byte by byte with a histogram; then each better element is placed by a warp that counts what
// comes before it, and elements equal to the k-th follow in the order of their positions. Time grows with
// extent * (bytes of a key + k / 8 warps): right for any k, quick for k much below the extent. Any types and
// strides; 256 threads, 2 KiB of shared memory.
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"
#include "kernels/sort_topk/sort_topk.h"

namespace ge::kernels {

using Key = unsigned long long;

// One column: a key for each position, made from the element's bits.
struct KeyColumn {
  const char* start;
  int64_t stride;  // in bytes
  int size;        // bytes of an element, and of a key
  bool inverted;   // largest first
  bool real, is_signed, boolean;
  Key mask, sign, infinity;  // bits above `infinity`, the sign aside, are NaN

  __device__ __forceinline__ Key bits_at(int64_t i) const {
    const char* at = start + i * stride;
    switch (size) {
      case 8:
        return *reinterpret_cast<const Key*>(at);
      case 4:
        return *reinterpret_cast<const unsigned*>(at);
      case 2:
        return *reinterpret_cast<const unsigned short*>(at);
      default:
        return *reinterpret_cast<const unsigned char*>(at);
    }
  }
  __device__ __forceinline__ Key at(int64_t i) const {
    const Key bits = bits_at(i);
    Key key = boolean ? bits != 0 : is_signed ? bits ^ sign : bits;
    if (real) {
      const Key magnitude = bits & ~sign;
      if (magnitude > infinity)
        key = mask;
      else if (magnitude == 0)
        key = sign;  // both zeros
      else
        key = (bits & sign) != 0 ? ~bits & mask : bits | sign;
    }
    return inverted ? mask - key : key;
  }
};

__device__ __forceinline__ Key infinity_of(DType t) {
  switch (t) {
    case DType::float64:
      return Key(0x7ff) << 52;
    case DType::float32:
      return 0x7f800000;
    case DType::float16:
      return 0x7c00;
    case DType::bfloat16:
      return 0x7f80;
    case DType::float8e5m2:
      return 0x7c;
    default:  // float8e4m3fn has no infinities, and one NaN
      return 0x7e;
  }
}

__device__ __forceinline__ KeyColumn key_column(const SortTopkArgs& a, int64_t start) {
  const DType t = a.in.dtype;
  const int size = size_of_element(t);
  KeyColumn c;
  c.start = static_cast<const char*>(a.in.data) + start * size;
  c.stride = a.in.strides[a.axis] * size;
  c.size = size;
  c.inverted = a.largest != 0;
  c.real = t <= DType::float8e5m2;
  c.is_signed = t == DType::int64 || t == DType::int32 || t == DType::int16 || t == DType::int8;
  c.boolean = t == DType::boolean;
  c.mask = ~Key(0) >> (64 - 8 * size);
  c.sign = Key(1) << (8 * size - 1);
  c.infinity = infinity_of(t);
  return c;
}

// The whole block; the k-th smallest key, and how many elements of just that key are among the k.
__device__ Key kth_key(const KeyColumn& keys, int64_t extent, int64_t k, int64_t& ties) {
  __shared__ unsigned long long counts[256];
  __shared__ unsigned long long chosen[2];  // bin, elements before it
  Key prefix = 0;
  for (int byte = keys.size - 1; byte >= 0; --byte) {
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < extent; i += blockDim.x) {
      const Key key = keys.at(i);
      const bool same = byte == keys.size - 1 || (key >> (8 * (byte + 1))) == prefix;
      if (same) atomicAdd(&counts[(key >> (8 * byte)) & 0xff], 1ull);
    }
    __syncthreads();
    if (threadIdx.x < 32) {  // eight bins a lane
      unsigned long long sum = 0;
      for (int b = 0; b < 8; ++b) sum += counts[threadIdx.x * 8 + b];
      unsigned long long upto = sum;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned long long below = __shfl_up_sync(0xffffffffu, upto, distance);
        if (static_cast<int>(threadIdx.x) >= distance) upto += below;
      }
      unsigned long long before = upto - sum;
      if (before < static_cast<unsigned long long>(k) && static_cast<unsigned long long>(k) <= upto) {
        int b = 0;
        while (before + counts[threadIdx.x * 8 + b] < static_cast<unsigned long long>(k))
          before += counts[threadIdx.x * 8 + b++];
        chosen[0] = threadIdx.x * 8 + b;
        chosen[1] = before;
      }
    }
    __syncthreads();
    prefix = (prefix << 8) | chosen[0];
    k -= static_cast<int64_t>(chosen[1]);
  }
  ties = k;
  return prefix;
}

// Each element before `last` goes to the place that the number of elements before it says.
__device__ void place_better(const SortTopkArgs& a, const KeyColumn& keys, int64_t extent, Key last,
                             int64_t to) {
  const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
  for (int64_t base = (threadIdx.x >> 5) * 32; base < extent; base += warps * 32) {
    const Key mine = base + lane < extent ? keys.at(base + lane) : ~Key(0);
    unsigned found = __ballot_sync(0xffffffffu, base + lane < extent && mine < last);
    for (; found != 0; found &= found - 1) {
      const int which = __ffs(static_cast<int>(found)) - 1;
      const Key key = __shfl_sync(0xffffffffu, mine, which);
      const int64_t position = base + which;
      unsigned long long before = 0;
      for (int64_t j = lane; j < extent; j += 32) {
        const Key other = keys.at(j);
        before += other < key || (other == key && j < position);
      }
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2)
        before += __shfl_down_sync(0xffffffffu, before, distance);
      if (lane == 0)
        static_cast<int64_t*>(a.out.data)[to + static_cast<int64_t>(before) * a.out.strides[a.axis]] =
            position;
    }
  }
}

// One warp: the first `ties` elements of key `last`, from place `from` on.
__device__ void place_ties(const SortTopkArgs& a, const KeyColumn& keys, int64_t extent, Key last,
                           int64_t from, int64_t ties, int64_t to) {
  const int lane = threadIdx.x & 31;
  for (int64_t base = 0; base < extent && ties > 0; base += 32) {
    const bool equal = base + lane < extent && keys.at(base + lane) == last;
    const unsigned found = __ballot_sync(0xffffffffu, equal);
    const int64_t before = __popc(found & ((1u << lane) - 1));
    if (equal && before < ties)
      static_cast<int64_t*>(a.out.data)[to + (from + before) * a.out.strides[a.axis]] = base + lane;
    from += __popc(found);
    ties -= __popc(found);
  }
}

__device__ void sort_topk(const SortTopkArgs& a) {
  const int64_t k = a.out.dims[a.axis], total = count_of(a.out.dims, a.out.rank);
  if (total == 0) return;
  const int64_t extent = a.in.dims[a.axis], columns = total / k;
  for (int64_t n = blockIdx.x; n < columns; n += gridDim.x) {
    int64_t number = n, from = 0, to = 0;
    for (int i = a.in.rank - 1; i >= 0; --i) {
      if (i == a.axis) continue;
      const int64_t at = split(number, a.in.dims[i]);
      from += at * a.in.strides[i];
      to += at * a.out.strides[i];
    }
    const KeyColumn keys = key_column(a, from);
    int64_t ties = 0;
    const Key last = kth_key(keys, extent, k, ties);
    place_better(a, keys, extent, last, to);
    if (threadIdx.x < 32) place_ties(a, keys, extent, last, k - ties, ties, to);
    __syncthreads();
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_sort_topk_radix(const __grid_constant__ ge::kernels::SortTopkArgs args) {
  using namespace ge::kernels;
  if (blockDim.x != 256) return;
  sort_topk(args);
}
