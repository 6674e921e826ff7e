// How a dot's operands look to a column-major strided-batch matmul. Entry: matmul_shape. Pure: no CUDA here.
//
// out[b, m, n] row-major is out^T[b, n, m] column-major, and out^T = rhs^T lhs^T: rhs is passed as A (n x k),
// lhs as B (k x m). Batch axes that all operands step through evenly become one strided batch; leading axes
// where rhs stands still and lhs and out go on row after row are folded into m; what is left is a list of
// products.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "contract/tensor_view.h"

namespace ge::cuda {

struct MatrixPart {
  bool transposed = false;   // as A or B: op is T
  int64_t leading = 1;       // elements between columns of the column-major matrix
  int64_t batch_stride = 0;  // elements; 0: the same matrix for the whole batch
};
enum class BiasKind : uint8_t { kNone, kRow, kMatrix };  // kRow: one value per n. kMatrix: added through C
struct MatmulOffsets {
  int64_t lhs = 0, rhs = 0, bias = 0, out = 0;
};  // elements
struct MatmulShape {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  MatrixPart lhs, rhs, out, bias;        // bias: for kMatrix, the residual where there is one
  BiasKind bias_kind = BiasKind::kNone;  // kMatrix with a residual: the bias beside it is none or a row
  std::vector<MatmulOffsets> products;   // one matmul each, at these offsets from the operands' data
};

// operands: lhs[..., m, k], rhs[..., k, n], bias and residual (rank -1: none) and out[..., m, n], equal ranks
// from 2 up; the offsets of what is added are the residual's where there is one. launch_refused where an axis
// that must be dense is not.
Result<MatmulShape> matmul_shape(const TensorView& lhs, const TensorView& rhs, const TensorView& bias,
                                 const TensorView& out, const TensorView* residual = nullptr);

}  // namespace ge::cuda
