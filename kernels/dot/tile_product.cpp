// Cache blocking: a tile of outputs stays in scratch while blocks of depth pass; per block the tile's rows
// and columns are packed once.
#include "kernels/dot/tile_product.h"

#include <algorithm>

namespace ge::kernels {
namespace {

// Chosen so that packed rows (20 * 14 * 272 * 4 = 305 KB), packed columns (256 KB) and results (280 KB) fit a
// 1 MB second-level cache.
constexpr int64_t kMicroRowsPerTile = 20, kTileColumns = 256;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// The least multiple of `step` that covers `count` in as few even parts as parts of at most `most` would.
int64_t even_part(int64_t count, int64_t step, int64_t most) {
  return ceil_div(ceil_div(count, ceil_div(count, most)), step) * step;
}

}  // namespace

const MicroKernel& best_micro_kernel() {
#if defined(__x86_64__)
  static const MicroKernel& best = [&]() -> const MicroKernel& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq"))
      return kMicroKernelV4;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kMicroKernelV3;
    return kMicroKernelV2;
  }();
  return best;
#else
  return kMicroKernelV2;
#endif
}

// Large tiles reuse packed values most; they shrink until every thread has work. Even ones: a last tile of a
// few rows would pack all columns for little.
TileProduct::Tiling TileProduct::tiling(int threads) const {
  Tiling t{even_part(rows_, micro_.rows, kMicroRowsPerTile * micro_.rows),
           even_part(columns_, micro_.columns, kTileColumns), 0, 0};
  const auto count = [&] { return batches_ * ceil_div(rows_, t.rows) * ceil_div(columns_, t.columns); };
  while (count() < 3 * threads && threads > 1) {
    if (t.columns > 2 * micro_.columns)
      t.columns = ceil_div(t.columns / 2, micro_.columns) * micro_.columns;
    else if (t.rows > micro_.rows)
      t.rows = ceil_div(t.rows / 2, micro_.rows) * micro_.rows;
    else
      break;
  }
  t.row_tiles = ceil_div(rows_, t.rows);
  t.column_tiles = ceil_div(columns_, t.columns);
  return t;
}

void TileProduct::run(const LaunchContext& context) const {
  if (batches_ <= 0 || rows_ <= 0 || columns_ <= 0) return;
  const Tiling t = tiling(context.threads);
  const int64_t floats = t.rows * kRowStride + kDepthBlock * t.columns + t.rows * t.columns;
  context.parallel_for(batches_ * t.row_tiles * t.column_tiles, 1, [&](int64_t begin, int64_t end) {
    auto* scratch =
        reinterpret_cast<float*>(context.scratch(context.pool, static_cast<size_t>(floats) * sizeof(float)));
    for (int64_t item = begin; item < end; ++item) {
      const int64_t column = item % t.column_tiles * t.columns,
                    row = item / t.column_tiles % t.row_tiles * t.rows;
      run_tile(item / t.column_tiles / t.row_tiles, {row, std::min(t.rows, rows_ - row)},
               {column, std::min(t.columns, columns_ - column)}, t, scratch);
    }
  });
}

void TileProduct::run_tile(int64_t batch, Range rows, Range columns, const Tiling& t, float* scratch) const {
  float* a = scratch;
  float* panels = a + t.rows * kRowStride;
  float* c = panels + kDepthBlock * t.columns;
  if (depth_ == 0) std::fill(c, c + rows.count * t.columns, 0.0f);
  for (int64_t k = 0; k < depth_; k += kDepthBlock) {
    const Range depth{k, std::min<int64_t>(kDepthBlock, depth_ - k)};
    fetch_rows(batch, rows, depth, a);
    // Packing pays when several register tiles use it; the last panel may be short, and is packed then.
    int64_t ldb = 0;
    const float* direct =
        rows.count <= 2 * micro_.rows ? direct_panel(batch, k, columns.begin, ldb) : nullptr;
    const int64_t unpacked = direct != nullptr ? columns.count / micro_.columns * micro_.columns : 0;
    if (unpacked < columns.count) {
      fetch_columns(batch, depth, {columns.begin + unpacked, columns.count - unpacked}, panels);
    }
    for (int64_t j = 0; j < columns.count; j += micro_.columns) {
      if (j < unpacked)
        multiply(a, direct + j, ldb, rows.count, depth.count, c + j, t.columns, k > 0);
      else
        multiply(a, panels + (j - unpacked) * kDepthBlock, micro_.columns, rows.count, depth.count, c + j,
                 t.columns, k > 0);
    }
  }
  write(batch, rows, columns, c, t.columns);
}

void TileProduct::multiply(const float* a, const float* b, int64_t ldb, int64_t rows, int64_t depth, float* c,
                           int64_t ldc, bool accumulate) const {
  for (int64_t i = 0; i < rows; i += micro_.rows) {
    const int64_t count = std::min<int64_t>(micro_.rows, rows - i);
    micro_.run[count](depth, a + i * kRowStride, b, ldb, c + i * ldc, ldc, accumulate);
  }
}

}  // namespace ge::kernels
