// What the CUDA dot kernels share: batch offsets and the epilogue of one result. Entry: DotBatch, finish_dot.
#pragma once
#include "kernels/device/activation.cuh"
#include "kernels/device/element.cuh"
#include "kernels/device/index.cuh"
#include "kernels/dot/dot.h"

namespace ge::kernels {

// Element offsets of one batch in each operand.
struct DotBatch {
  int64_t lhs, rhs, bias, residual, out;
  __device__ DotBatch(const DotArgs& args, int64_t batch) {
    const int rank = args.out.rank - 2;
    const int64_t* dims = args.out.dims;
    lhs = offset_of(batch, dims, rank, args.lhs.strides);
    rhs = offset_of(batch, dims, rank, args.rhs.strides);
    bias = args.bias.data != nullptr ? offset_of(batch, dims, rank, args.bias.strides) : 0;
    residual = args.residual.data != nullptr ? offset_of(batch, dims, rank, args.residual.strides) : 0;
    out = offset_of(batch, dims, rank, args.out.strides);
  }
};

template <class T>
__device__ __forceinline__ void finish_dot(const DotArgs& args, const DotBatch& batch, int64_t row,
                                           int64_t column, float value) {
  const int m = args.out.rank - 2, n = m + 1;
  if (row >= args.out.dims[m] || column >= args.out.dims[n]) return;
  if (args.bias.data != nullptr) {
    value += to_float(
        *pointer_to<T>(args.bias, batch.bias + row * args.bias.strides[m] + column * args.bias.strides[n]));
  }
  if (args.residual.data != nullptr) {
    value += to_float(*pointer_to<T>(
        args.residual, batch.residual + row * args.residual.strides[m] + column * args.residual.strides[n]));
  }
  static_cast<T*>(args.out.data)[batch.out + row * args.out.strides[m] + column * args.out.strides[n]] =
      from_float<T>(activate(args.activation, value));
}

}  // namespace ge::kernels
