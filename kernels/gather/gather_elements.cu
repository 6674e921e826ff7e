// gather_elements_sm80: one thread an element of out; an index out of range is clamped and noted in the
// device block. 256 threads.
#include "kernels/device/element.cuh"
#include "kernels/device/fault.cuh"
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"
#include "kernels/gather/gather_cuda.h"

namespace ge::kernels {

template <class T>
__device__ void gather_elements(const GatherCudaArgs& a, int64_t total) {
  const TensorView &data = a.data, &indices = a.indices, &out = a.out;
  const int axis = static_cast<int>(a.axis);
  const int64_t extent = data.dims[axis];
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    int64_t rest = i, from = 0, to = 0, which = 0;
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
    static_cast<T*>(out.data)[to] =
        extent == 0 ? T(0) : static_cast<const T*>(data.data)[from + position * data.strides[axis]];
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_gather_elements(const __grid_constant__ ge::kernels::GatherCudaArgs args) {
  using namespace ge::kernels;
  const int64_t total = count_of(args.out.dims, args.out.rank);
  with_size(args.data.dtype, [&](auto zero) { gather_elements<decltype(zero)>(args, total); });
}
