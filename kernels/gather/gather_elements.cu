// gather_elements_sm80: one thread an element of out, or 16 bytes of it where the last axis is one of data's
// that is dense and aligned; an index out of range is clamped and noted in the device block. 256 threads.
#include "kernels/device/element.cuh"
#include "kernels/device/fault.cuh"
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"
#include "kernels/gather/gather_cuda.h"

namespace ge::kernels {

// The last axis of out is data's last, and `count` elements along it are 16 bytes that stand on such a step
// wherever they begin; `count` is a power of two.
__device__ bool has_vectors(const GatherCudaArgs& a, int count) {
  const TensorView &data = a.data, &out = a.out;
  const int last = out.rank - 1;
  if (a.elements != 0 || last - static_cast<int>(a.axis) < a.indices.rank) return false;
  const auto places = reinterpret_cast<uintptr_t>(data.data) | reinterpret_cast<uintptr_t>(out.data);
  if (data.strides[data.rank - 1] != 1 || out.strides[last] != 1 || places % 16 != 0) return false;
  int64_t steps = out.dims[last];
  for (int o = 0; o < last; ++o) steps |= out.strides[o];
  for (int d = 0; d + 1 < data.rank; ++d) steps |= data.strides[d];
  return (steps & (count - 1)) == 0;
}

// kCount elements at a time, along the last axis of out; V holds them.
template <class T, class V>
__device__ void gather_elements(const GatherCudaArgs& a, int64_t total) {
  constexpr int kCount = sizeof(V) / sizeof(T);
  const TensorView &data = a.data, &indices = a.indices, &out = a.out;
  const int axis = static_cast<int>(a.axis);
  const int64_t extent = data.dims[axis];
  for (int64_t i = grid_begin(); i < total / kCount; i += grid_step()) {
    int64_t rest = i * kCount, from = 0, to = 0, which = 0;
    for (int o = out.rank - 1; o >= 0; --o) {
      const int64_t at = split(rest, out.dims[o]);
      to += at * out.strides[o];
      if (a.elements != 0) {
        which += at * indices.strides[o];
        if (o != axis) from += at * data.strides[o];
        continue;
      }
      const int q = o - axis;
      if (q >= 0 && q < indices.rank)
        which += at * indices.strides[q];
      else
        from += at * data.strides[q < 0 ? o : o - indices.rank + 1];
    }
    const int64_t index = load_integer(indices, which);
    int64_t position = index < 0 ? index + extent : index;
    if (position < 0 || position >= extent) {
      note_fault(a.device_block, FaultKind::kIndexOutOfRange, a.launch, index);
      position = position < 0 ? 0 : extent - 1;
    }
    V value{};
    if (extent != 0)
      value = *reinterpret_cast<const V*>(static_cast<const T*>(data.data) + from +
                                          position * data.strides[axis]);
    *reinterpret_cast<V*>(static_cast<T*>(out.data) + to) = value;
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_gather_elements(const __grid_constant__ ge::kernels::GatherCudaArgs args) {
  using namespace ge::kernels;
  const int64_t total = count_of(args.out.dims, args.out.rank);
  with_size(args.data.dtype, [&](auto zero) {
    using T = decltype(zero);
    if (has_vectors(args, 16 / sizeof(T)))
      gather_elements<T, uint4>(args, total);
    else
      gather_elements<T, T>(args, total);
  });
}
