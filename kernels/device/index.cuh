// Positions on the device: grid-stride loops and row-major indices over a view's dims. Entry: grid_begin,
// grid_step, Position.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

__device__ __forceinline__ int64_t grid_begin() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t grid_step() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

__device__ __forceinline__ int64_t count_of(const int64_t* dims, int rank) {
  int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= dims[i];
  return n;
}

// The same value, of which the compiler no longer knows where it comes from: what is computed from it is not
// what was computed before, and need not stay in registers.
__device__ __forceinline__ int opaque(int value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ unsigned opaque(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}
__device__ __forceinline__ int64_t opaque(int64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

// Quotient and remainder; 32-bit where both fit, which is several times faster.
__device__ __forceinline__ int64_t split(int64_t& value, int64_t dim) {
  if (((value | dim) >> 31) == 0) {
    const unsigned v = static_cast<unsigned>(value), d = static_cast<unsigned>(dim);
    const unsigned q = v / d;
    value = q;
    return v - q * d;
  }
  const int64_t q = value / dim, r = value - q * dim;
  value = q;
  return r;
}

// Element offset of the row-major position `linear` of `dims` in strides s.
__device__ __forceinline__ int64_t offset_of(int64_t linear, const int64_t* dims, int rank,
                                             const int64_t* s) {
  int64_t offset = 0;
  for (int i = rank - 1; i >= 0; --i) offset += split(linear, dims[i]) * s[i];
  return offset;
}

}  // namespace ge::kernels
