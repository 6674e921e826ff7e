// cast_nibbles_sm80: 4-bit integers to and from the 8-bit ones of their kind, and copies of 4-bit ones. One
// thread a byte of out, so where out is 4-bit it writes both elements; out is dense there, in has any
// strides. 256 threads.
#include "kernels/cast/cast.h"
#include "kernels/device/index.cuh"

namespace ge::kernels {

__device__ __forceinline__ bool is_nibbles(const TensorView& view) {
  return view.dtype == DType::int4 || view.dtype == DType::uint4;
}

// As the low bits of a number; of int4 the sign is spread.
__device__ __forceinline__ unsigned load_small(const TensorView& view, int64_t linear) {
  const int64_t at = offset_of(linear, view.dims, view.rank, view.strides);
  const auto* bytes = static_cast<const unsigned char*>(view.data);
  if (!is_nibbles(view)) return bytes[at];
  const unsigned nibble = (bytes[at >> 1] >> (4 * (at & 1))) & 0xf;
  return view.dtype == DType::int4 ? (nibble ^ 8) - 8 : nibble;
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_cast_nibbles(const __grid_constant__ ge::kernels::CastArgs args) {
  using namespace ge::kernels;
  const int64_t total = count_of(args.out.dims, args.out.rank);
  auto* out = static_cast<unsigned char*>(args.out.data);
  if (!is_nibbles(args.out)) {
    for (int64_t i = grid_begin(); i < total; i += grid_step())
      out[offset_of(i, args.out.dims, args.out.rank, args.out.strides)] =
          static_cast<unsigned char>(load_small(args.in, i));
    return;
  }
  for (int64_t i = grid_begin(); 2 * i < total; i += grid_step()) {
    const unsigned low = load_small(args.in, 2 * i) & 0xf;
    const unsigned high = 2 * i + 1 < total ? load_small(args.in, 2 * i + 1) & 0xf : 0;
    out[i] = static_cast<unsigned char>(low | (high << 4));
  }
}
