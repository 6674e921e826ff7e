#include "runtime/cuda/matmul_shape.h"

#include <algorithm>

namespace ge::cuda {
namespace {

Diagnostic refuse(const std::string& why) {
  return fail(Code::launch_refused).because(why);
}

// `inner` is the axis that the column-major matrix has as rows (n for A, k for B), `outer` its columns.
Result<MatrixPart> matrix_part(const TensorView& v, int inner, int outer, const char* name) {
  const auto dense = [&](int fast, int slow) {
    const bool steps = v.dims[fast] <= 1 || v.strides[fast] == 1;
    return steps && (v.dims[slow] <= 1 || v.strides[slow] >= v.dims[fast]);
  };
  const auto leading = [&](int fast, int slow) {
    return v.dims[slow] <= 1 ? std::max<int64_t>(v.dims[fast], 1) : v.strides[slow];
  };
  if (dense(inner, outer)) return MatrixPart{false, leading(inner, outer), 0};
  if (dense(outer, inner)) return MatrixPart{true, leading(outer, inner), 0};
  return refuse(std::string(name) + " has no dense axis");
}

// A batch axis of all four operands.
struct BatchAxis {
  int64_t dim = 1;
  int64_t lhs = 0, rhs = 0, bias = 0, out = 0;
};

std::vector<BatchAxis> batch_axes(const TensorView& lhs, const TensorView& rhs, const TensorView& bias,
                                  const TensorView& out) {
  std::vector<BatchAxis> axes;
  for (int i = 0; i + 2 < out.rank; ++i) {
    if (out.dims[i] == 1) continue;
    const BatchAxis axis{out.dims[i], lhs.strides[i], rhs.strides[i], bias.rank < 0 ? 0 : bias.strides[i],
                         out.strides[i]};
    const bool even = !axes.empty() && axes.back().lhs == axis.lhs * axis.dim &&
                      axes.back().rhs == axis.rhs * axis.dim && axes.back().bias == axis.bias * axis.dim &&
                      axes.back().out == axis.out * axis.dim;
    if (even) {
      axes.back() = {axes.back().dim * axis.dim, axis.lhs, axis.rhs, axis.bias, axis.out};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// Rows of the innermost batch axis follow one another: m grows, the axis goes.
bool fold_into_rows(const BatchAxis& axis, const TensorView& lhs, const TensorView& bias,
                    const TensorView& out, MatmulShape& shape) {
  const int m = out.rank - 2;
  const auto follows = [&](int64_t axis_stride, const TensorView& v) {
    return v.dims[m] == 1 || axis_stride == v.strides[m] * v.dims[m];
  };
  if (axis.rhs != 0 || shape.lhs.transposed) return false;
  if (!follows(axis.lhs, lhs) || !follows(axis.out, out)) return false;
  if (shape.bias_kind == BiasKind::kMatrix && !follows(axis.bias, bias)) return false;
  if (shape.bias_kind == BiasKind::kRow && axis.bias != 0) return false;
  // With one row there was no stride between rows: the axis brings it.
  if (shape.m == 1) {
    if (axis.lhs < shape.k || axis.out < shape.n ||
        (shape.bias_kind == BiasKind::kMatrix && axis.bias < shape.n))
      return false;
    shape.lhs.leading = axis.lhs;
    shape.out.leading = axis.out;
    if (shape.bias_kind == BiasKind::kMatrix) shape.bias.leading = axis.bias;
  }
  shape.m *= axis.dim;
  return true;
}

void add_products(std::span<const BatchAxis> axes, MatmulOffsets at, std::vector<MatmulOffsets>& into) {
  if (axes.empty()) {
    into.push_back(at);
    return;
  }
  for (int64_t i = 0; i < axes.front().dim; ++i) {
    add_products(axes.subspan(1), at, into);
    at.lhs += axes.front().lhs;
    at.rhs += axes.front().rhs;
    at.bias += axes.front().bias;
    at.out += axes.front().out;
  }
}

Result<BiasKind> bias_kind(const TensorView& bias) {
  if (bias.rank < 0) return BiasKind::kNone;
  const int m = bias.rank - 2, n = bias.rank - 1;
  const bool along_n = bias.dims[n] <= 1 || bias.strides[n] == 1;
  if (!along_n) return refuse("bias is not dense along n");
  bool batch_still = true;
  for (int i = 0; i < m; ++i) batch_still &= bias.dims[i] <= 1 || bias.strides[i] == 0;
  if (batch_still && (bias.dims[m] <= 1 || bias.strides[m] == 0)) return BiasKind::kRow;
  if (bias.dims[m] > 1 && bias.strides[m] < bias.dims[n])
    return refuse("bias differs between batches but not between rows");
  return BiasKind::kMatrix;
}

}  // namespace

Result<MatmulShape> matmul_shape(const TensorView& lhs, const TensorView& rhs, const TensorView& row_bias,
                                 const TensorView& out, const TensorView* residual) {
  const bool has_residual = residual != nullptr && residual->rank >= 0;
  const TensorView& bias = has_residual ? *residual : row_bias;
  const int m = out.rank - 2, n = out.rank - 1;
  MatmulShape shape;
  shape.m = out.dims[m];
  shape.n = out.dims[n];
  shape.k = lhs.dims[n];
  if (shape.k == 0) return refuse("k is 0");
  GE_ASSIGN(shape.rhs, matrix_part(rhs, n, m, "rhs"));  // A: n x k
  GE_ASSIGN(shape.lhs, matrix_part(lhs, n, m, "lhs"));  // B: k x m
  GE_ASSIGN(shape.out, matrix_part(out, n, m, "out"));
  if (shape.out.transposed) return refuse("out is not dense along n");
  GE_ASSIGN(shape.bias_kind, bias_kind(row_bias));
  if (has_residual) {
    if (shape.bias_kind == BiasKind::kMatrix) return refuse("bias and residual are both matrices");
    shape.bias_kind = BiasKind::kMatrix;
  }
  if (shape.bias_kind == BiasKind::kMatrix) {
    GE_ASSIGN(shape.bias, matrix_part(bias, n, m, "bias"));
    if (shape.bias.transposed) return refuse("bias is not dense along n");
  }
  std::vector<BatchAxis> axes = batch_axes(lhs, rhs, bias, out);
  if (!axes.empty() && fold_into_rows(axes.back(), lhs, bias, out, shape)) axes.pop_back();
  if (!axes.empty()) {
    const BatchAxis& axis = axes.back();
    const bool fits = axis.lhs >= 0 && axis.rhs >= 0 && axis.bias >= 0 && axis.out > 0;
    if (!fits) return refuse("a batch axis steps backwards");
    shape.batch = axis.dim;
    shape.lhs.batch_stride = axis.lhs;
    shape.rhs.batch_stride = axis.rhs;
    shape.bias.batch_stride = axis.bias;
    shape.out.batch_stride = axis.out;
    axes.pop_back();
  }
  add_products(axes, {}, shape.products);
  return shape;
}

}  // namespace ge::cuda
