// copy_strided_sm80: out[i] = in[i] for any strides and element size; dense aligned pairs move 16 bytes a
// thread. 256 threads.
#include "kernels/copy/copy.h"
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"

namespace ge::kernels {

__device__ inline bool is_dense(const TensorView& v) {
  int64_t expected = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    if (v.dims[i] != 1 && v.strides[i] != expected) return false;
    expected *= v.dims[i];
  }
  return true;
}

template <class T>
__device__ void copy_elements(const CopyArgs& a, int64_t total) {
  const T* in = static_cast<const T*>(a.in.data);
  T* out = static_cast<T*>(a.out.data);
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    int64_t rest = i, from = 0, to = 0;
    for (int axis = a.out.rank - 1; axis >= 0; --axis) {
      const int64_t at = split(rest, a.out.dims[axis]);
      from += at * a.in.strides[axis];
      to += at * a.out.strides[axis];
    }
    out[to] = in[from];
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_copy_strided(const __grid_constant__ ge::kernels::CopyArgs args) {
  using namespace ge::kernels;
  const int64_t total = count_of(args.out.dims, args.out.rank);
  const uintptr_t addresses =
      reinterpret_cast<uintptr_t>(args.in.data) | reinterpret_cast<uintptr_t>(args.out.data);
  if (addresses % 16 == 0 && is_dense(args.in) && is_dense(args.out)) {
    const int64_t bytes = total * size_of_element(args.out.dtype);
    for (int64_t i = grid_begin(); i < bytes / 16; i += grid_step()) {
      static_cast<uint4*>(args.out.data)[i] = static_cast<const uint4*>(args.in.data)[i];
    }
    const int64_t tail = bytes / 16 * 16 + grid_begin();
    if (tail < bytes && grid_begin() < 16)
      static_cast<char*>(args.out.data)[tail] = static_cast<const char*>(args.in.data)[tail];
    return;
  }
  with_size(args.out.dtype, [&](auto zero) { copy_elements<decltype(zero)>(args, total); });
}
