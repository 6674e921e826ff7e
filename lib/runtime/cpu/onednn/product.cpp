// Cuts dot and 1 x 1 conv launches into products and runs them. Which launches are worth it: docs/adr/0006.
#include "runtime/cpu/onednn/product.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <atomic>

#include "kernels/common/activate_row.h"
#include "kernels/common/strided_walk.h"
#include "runtime/cpu/onednn/one_thread.h"

namespace ge::cpu::onednn {
namespace {

using kernels::ConvArgs;
using kernels::DotArgs;
using kernels::StridedWalk;

// Below these ge's own product is as fast: few rows or columns, or little work to a call.
constexpr int64_t kMinRows = 16, kMinColumns = 16, kMinDepth = 32, kMinMultiplies = int64_t{1} << 20;
// A product's sides: large enough to reuse what oneDNN packs, small enough for a cache.
constexpr int64_t kMostRows = 512, kMostColumns = 512, kLeastColumns = 128;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Where a matrix with these strides is row-major or the transpose of one; false where it is neither.
bool order_of(int64_t rows, int64_t columns, int64_t row_step, int64_t column_step, char& order,
              int64_t& ld) {
  if (column_step == 1 || columns == 1) {
    order = 'N';
    ld = rows == 1 ? columns : row_step;
    return ld >= columns && (columns > 1 || row_step >= 1);
  }
  order = 'T';
  ld = columns == 1 ? rows : column_step;
  return (row_step == 1 || rows == 1) && ld >= rows;
}

const float* at(const TensorView& view, int64_t offset) {
  return static_cast<const float*>(view.data) + offset;
}

// Cuts whole products so that every thread has some; ends of rows and columns are shorter.
void cut(const Piece& whole, int64_t products, int threads, std::vector<Piece>& out) {
  const int64_t row_parts = ceil_div(whole.m, kMostRows);
  int64_t column_parts = ceil_div(whole.n, kMostColumns);
  while (threads > 1 && products * row_parts * column_parts < 2 * threads &&
         whole.n / (column_parts + 1) >= kLeastColumns)
    ++column_parts;
  const int64_t rows = ceil_div(whole.m, row_parts),
                columns = ceil_div(ceil_div(whole.n, column_parts), 16) * 16;
  for (int64_t i = 0; i < whole.m; i += rows) {
    for (int64_t j = 0; j < whole.n; j += columns) {
      Piece piece = whole;
      piece.m = std::min(rows, whole.m - i);
      piece.n = std::min(columns, whole.n - j);
      piece.a += whole.order_a == 'N' ? i * whole.lda : i;
      piece.b += whole.order_b == 'N' ? j : j * whole.ldb;
      piece.c += i * whole.ldc + j;
      if (piece.bias != nullptr) piece.bias += i * whole.bias_row + j * whole.bias_column;
      if (piece.residual != nullptr) piece.residual += i * whole.residual_row + j * whole.residual_column;
      out.push_back(piece);
    }
  }
}

bool worth_it(const Piece& whole) {
  return whole.m >= kMinRows && whole.n >= kMinColumns && whole.k >= kMinDepth &&
         whole.m * whole.n >= kMinMultiplies / whole.k;
}

void finish(const Piece& piece, const kernels::Activation& activation) {
  if (piece.bias == nullptr && piece.residual == nullptr && activation.op == 0) return;
  for (int64_t i = 0; i < piece.m; ++i) {
    float* row = piece.c + i * piece.ldc;
    if (piece.bias != nullptr) {
      const float* bias = piece.bias + i * piece.bias_row;
      for (int64_t j = 0; j < piece.n; ++j) row[j] += bias[j * piece.bias_column];
    }
    if (piece.residual != nullptr) {
      const float* residual = piece.residual + i * piece.residual_row;
      for (int64_t j = 0; j < piece.n; ++j) row[j] += residual[j * piece.residual_column];
    }
    // Not oneDNN's own: its relu makes 0 of a NaN.
    if (activation.op != 0) kernels::activate_row(activation, row, piece.n);
  }
}

// A dense image: [C, H, W] with planes that stand row after row.
bool has_dense_planes(const TensorView& v) {
  return v.strides[v.rank - 1] == 1 && v.strides[v.rank - 2] == v.dims[v.rank - 1];
}

}  // namespace

Product dot_pieces(const DotArgs& args, int threads) {
  const TensorView &lhs = args.lhs, &rhs = args.rhs, &bias = args.bias, &out = args.out;
  const int m = out.rank - 2, n = out.rank - 1;
  Product product{{}, args.activation};
  Piece whole;
  whole.m = out.dims[m], whole.n = out.dims[n], whole.k = lhs.dims[n];
  char order_c = 'N';
  if (!worth_it(whole) ||
      !order_of(whole.m, whole.k, lhs.strides[m], lhs.strides[n], whole.order_a, whole.lda) ||
      !order_of(whole.k, whole.n, rhs.strides[m], rhs.strides[n], whole.order_b, whole.ldb) ||
      !order_of(whole.m, whole.n, out.strides[m], out.strides[n], order_c, whole.ldc) || order_c != 'N')
    return product;
  whole.bias_row = bias.data != nullptr ? bias.strides[m] : 0;
  whole.bias_column = bias.data != nullptr ? bias.strides[n] : 0;
  const TensorView& residual = args.residual;
  whole.residual_row = residual.data != nullptr ? residual.strides[m] : 0;
  whole.residual_column = residual.data != nullptr ? residual.strides[n] : 0;
  int64_t batches = 1;
  for (int i = 0; i < m; ++i) batches *= out.dims[i];
  if (batches < 1 || batches > 4096) return product;
  StridedWalk<5> walk(out.dims, m, {lhs.strides, rhs.strides, out.strides, bias.strides, residual.strides},
                      0);
  for (int64_t batch = 0; batch < batches; ++batch, walk.next()) {
    Piece one = whole;
    one.a = at(lhs, walk.offset(0));
    one.b = at(rhs, walk.offset(1));
    one.c = static_cast<float*>(out.data) + walk.offset(2);
    one.bias = bias.data != nullptr ? at(bias, walk.offset(3)) : nullptr;
    one.residual = residual.data != nullptr ? at(residual, walk.offset(4)) : nullptr;
    cut(one, batches, threads, product.pieces);
  }
  return product;
}

// A window of one element that moves by one: y[M, positions] = w[M, C] * x[C, positions].
Product conv_pieces(const ConvArgs& args, int threads) {
  const TensorView &x = args.x, &w = args.w, &bias = args.bias, &y = args.y;
  Product product{{}, args.activation};
  const int h = 2, v = 3;
  if (y.rank != 4 || w.dims[h] != 1 || w.dims[v] != 1 || args.window.strides[0] != 1 ||
      args.window.strides[1] != 1 || args.window.pads_begin[0] != 0 || args.window.pads_begin[1] != 0 ||
      x.dims[h] != y.dims[h] || x.dims[v] != y.dims[v] || !has_dense_planes(x) || !has_dense_planes(y) ||
      (w.dims[1] > 1 && w.strides[1] != 1))
    return product;
  const TensorView& residual = args.residual;
  if (residual.data != nullptr && !has_dense_planes(residual)) return product;
  Piece whole;
  whole.m = y.dims[1] / args.groups, whole.n = y.dims[h] * y.dims[v], whole.k = w.dims[1];
  whole.lda = w.strides[0], whole.ldb = x.strides[1], whole.ldc = y.strides[1];
  if (!worth_it(whole) || whole.lda < whole.k || whole.ldb < whole.n || whole.ldc < whole.n) return product;
  whole.bias_row = bias.data != nullptr ? bias.strides[0] : 0;
  whole.residual_row = residual.data != nullptr ? residual.strides[1] : 0;
  whole.residual_column = 1;
  const int64_t products = y.dims[0] * args.groups;
  if (products > 4096) return product;
  for (int64_t i = 0; i < products; ++i) {
    const int64_t image = i / args.groups, group = i % args.groups;
    Piece one = whole;
    one.a = at(w, group * whole.m * w.strides[0]);
    one.b = at(x, image * x.strides[0] + group * whole.k * x.strides[1]);
    one.c = static_cast<float*>(y.data) + image * y.strides[0] + group * whole.m * y.strides[1];
    one.bias = bias.data != nullptr ? at(bias, group * whole.m * bias.strides[0]) : nullptr;
    if (residual.data != nullptr)
      one.residual = at(residual, image * residual.strides[0] + group * whole.m * residual.strides[1]);
    cut(one, products, threads, product.pieces);
  }
  return product;
}

bool run_pieces(const Product& product, const LaunchContext& context) {
  std::atomic<bool> good{true};
  context.parallel_for(static_cast<int64_t>(product.pieces.size()), 1, [&](int64_t begin, int64_t end) {
    const OneThread one_thread;
    for (int64_t i = begin; i < end; ++i) {
      const Piece& p = product.pieces[static_cast<size_t>(i)];
      const dnnl_status_t status =
          dnnl_sgemm(p.order_a, p.order_b, p.m, p.n, p.k, 1.0f, p.a, p.lda, p.b, p.ldb, 0.0f, p.c, p.ldc);
      if (status != dnnl_success)
        good.store(false, std::memory_order_relaxed);
      else
        finish(p, product.activation);
    }
  });
  return good.load(std::memory_order_relaxed);
}

}  // namespace ge::cpu::onednn
