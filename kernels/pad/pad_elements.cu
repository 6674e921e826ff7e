// pad_elements_sm80: one thread an element of out. 256 threads.
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"
#include "kernels/pad/pad.h"

namespace ge::kernels {

template <class T>
__device__ void pad_elements(const PadArgs& a, int64_t total) {
  const T fill = a.value.data != nullptr ? *static_cast<const T*>(a.value.data) : T(0);
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    int64_t rest = i, from = 0, to = 0;
    bool inside = true;
    for (int axis = a.out.rank - 1; axis >= 0; --axis) {
      const int64_t at = split(rest, a.out.dims[axis]);
      to += at * a.out.strides[axis];
      const int64_t p =
          source_position(at - a.pads_begin[axis], a.in.dims[axis], static_cast<PadMode>(a.mode));
      inside = inside && p >= 0;
      from += p * a.in.strides[axis];
    }
    static_cast<T*>(a.out.data)[to] = inside ? static_cast<const T*>(a.in.data)[from] : fill;
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_pad_elements(const __grid_constant__ ge::kernels::PadArgs args) {
  using namespace ge::kernels;
  const int64_t total = count_of(args.out.dims, args.out.rank);
  with_size(args.out.dtype, [&](auto zero) { pad_elements<decltype(zero)>(args, total); });
}
