// FusedMatMul (com.microsoft): alpha * A' B' by numpy's rules, where each factor's last two dims may be
// swapped (transA), and its first dim may stand behind the batch dims (transBatchA): [M, batch..., K] is read
// as [batch..., M, K].
#include "compiler/onnx_ops/activation_by_name.h"
#include "compiler/onnx_ops/conversion.h"

namespace ge {
namespace {

// Input `i` as its attributes turn it; a vector is left as it is.
ValueId turned(OpContext& c, size_t i, const char* batch_attribute, const char* attribute) {
  const ValueId x = c.in(i);
  const int64_t rank = c.rank(x);
  if (rank < 2) return x;
  std::vector<int64_t> perm;
  const bool batch_last = c.int_attr(batch_attribute) != 0 && rank > 2;
  for (int64_t a = batch_last ? 1 : 0; a < rank - 1; ++a) perm.push_back(a);
  if (batch_last) perm.push_back(0);
  perm.push_back(rank - 1);
  if (c.int_attr(attribute) != 0) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return c.build().transpose(x, perm);
}

}  // namespace

Results lower_fused_mat_mul(OpContext& c) {
  const ValueId a = turned(c, 0, "transBatchA", "transA"), b = turned(c, 1, "transBatchB", "transB");
  const ValueId product = matrix_product(c, a, 0, b, 1);
  const double alpha = c.float_attr("alpha");
  if (c.failed() || alpha == 1) return product;
  return c.build().map(Op::mul, {product, c.scalar_like(product, alpha)});
}

// Gemm with an activation behind it.
Results lower_gemm(OpContext& c);
Results lower_fused_gemm(OpContext& c) {
  const ValueId product = lower_gemm(c).values.front();
  ActivationParameters parameters;
  if (c.has_attr("activation_alpha")) parameters.first = c.float_attr("activation_alpha");
  if (c.has_attr("activation_beta")) parameters.second = c.float_attr("activation_beta");
  return activation_by_name(c, product, "activation", parameters);
}

}  // namespace ge
