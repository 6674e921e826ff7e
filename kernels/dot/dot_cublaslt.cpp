// The row of the library product dot_cublaslt; the runtime launches it through cuBLASLt, opened only for
// plans that use it.
#include "kernels/common/activation.h"
#include "kernels/common/cuda_rows.h"
#include "kernels/dot/dot_row.h"

namespace ge::kernels {
namespace {

// One of a matrix's axes is dense and the other steps past it: what a leading dimension can say.
bool is_matrix(const TensorView& v) {
  const int m = v.rank - 2, n = v.rank - 1;
  const auto dense = [&](int fast, int slow) {
    return (v.dims[fast] <= 1 || v.strides[fast] == 1) &&
           (v.dims[slow] <= 1 || v.strides[slow] >= v.dims[fast]);
  };
  return dense(n, m) || dense(m, n);
}

bool rows_dense(const TensorView& v) {
  const int m = v.rank - 2, n = v.rank - 1;
  return (v.dims[n] <= 1 || v.strides[n] == 1) && (v.dims[m] <= 1 || v.strides[m] >= v.dims[n]);
}

Status check_bias(const TensorView& bias) {
  if (is_absent(bias)) return {};
  const int m = bias.rank - 2, n = bias.rank - 1;
  if (bias.dims[n] > 1 && bias.strides[n] != 1) return refuse("bias is not dense along n");
  bool same_rows = true;
  for (int i = 0; i <= m; ++i) same_rows = same_rows && (bias.dims[i] <= 1 || bias.strides[i] == 0);
  if (!same_rows && !rows_dense(bias)) return refuse("bias differs between batches but not between rows");
  return {};
}

// One value per column is the library's bias, a matrix its C: there is one of each.
Status check_added(const TensorView& bias, const TensorView& residual) {
  GE_TRY(check_bias(bias));
  if (is_absent(residual)) return {};
  if (!rows_dense(residual)) return refuse("residual is not dense along n");
  for (int i = 0; i < bias.rank - 1; ++i)
    if (bias.dims[i] > 1 && bias.strides[i] != 0) return refuse("bias and residual are both matrices");
  for (int i = 0; i < residual.rank - 2; ++i)
    if (residual.strides[i] < 0) return refuse("a batch axis steps backwards");
  return {};
}

Status check_cublaslt(const LaunchShape& shape) {
  GE_TRY(check_dot(shape));
  const TensorView &lhs = shape.operands[0], &rhs = shape.operands[1], &out = shape.operands[3];
  const int64_t op = attr_int(shape.attrs, "activation", 0);
  // The library's GELU is the tanh form.
  if (op != 0 && op != static_cast<int64_t>(ScalarOp::relu) &&
      op != static_cast<int64_t>(ScalarOp::gelu_tanh)) {
    return refuse("no epilogue for activation " + std::to_string(op));
  }
  if (lhs.dims[lhs.rank - 1] == 0) return refuse("k is 0");
  if (!is_matrix(lhs)) return refuse("lhs has no dense axis");
  if (!is_matrix(rhs)) return refuse("rhs has no dense axis");
  if (!rows_dense(out)) return refuse("out is not dense along n");
  for (int i = 0; i < out.rank - 2; ++i) {
    if (out.dims[i] > 1 && (lhs.strides[i] < 0 || rhs.strides[i] < 0 || out.strides[i] < 0))
      return refuse("a batch axis steps backwards");
  }
  return check_added(shape.operands[2], shape.operands[4]);
}

constexpr auto kOperands = dot_operands({DType::float32, DType::float16, DType::bfloat16});

}  // namespace

extern constinit const KernelRow dot_cublaslt_row = {
    .name = "dot_cublaslt",
    .kind = KernelKind::kLibrary,
    .device = KernelDevice::kCuda,
    .operands = kOperands,
    .attrs = kDotAttrs,
    .limits = {.min_arch = 80},
    .check = check_cublaslt,
    .efficiency =
        {.of_peak = 0.9, .of_bandwidth = 0.95, .matrix_units = true, .start_us = 2.3, .step_us = 0.07},
    .summary = "cuBLASLt matrix product with bias, residual, relu and tanh gelu; float32 stays float32",
};

}  // namespace ge::kernels
