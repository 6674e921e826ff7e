// A launch as independent matrix products, run by dnnl_sgemm on ge's threads, each product on one of them.
// Entry: dot_pieces, conv_pieces, run_pieces.
#pragma once
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/dot/dot.h"
#include "kernels/launch_context.h"

namespace ge::cpu::onednn {

// c[m, n] = act(a[m, k] * b[k, n] + bias + residual); row-major, `a` and `b` as they are ('N') or transposed
// ('T').
struct Piece {
  char order_a = 'N', order_b = 'N';
  int64_t m = 0, n = 0, k = 0;
  const float *a = nullptr, *b = nullptr, *bias = nullptr, *residual = nullptr;
  float* c = nullptr;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t bias_row = 0, bias_column = 0;  // element strides
  int64_t residual_row = 0, residual_column = 0;
};
struct Product {
  std::vector<Piece> pieces;
  kernels::Activation activation;
};

// Empty where the row's own function is to run.
Product dot_pieces(const kernels::DotArgs& args, int threads);
Product conv_pieces(const kernels::ConvArgs& args, int threads);
bool run_pieces(const Product& product, const LaunchContext& context);

}  // namespace ge::cpu::onednn
