// A matrix product by cache blocks over operands that are packed on the way: the engine of dot_blocked_* and
// conv_gemm_*. Entry: TileProduct::run. A subclass says how to fetch rows of the left side, columns of the
// right side and where results go. Each output is summed over blocks of kDepthBlock in ascending order
// whatever its tile, so results do not depend on threads.
#pragma once
#include "kernels/dot/micro_kernel.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

class TileProduct {
 public:
  // `batches` independent products of rows x depth by depth x columns.
  TileProduct(int64_t batches, int64_t rows, int64_t columns, int64_t depth)
      : micro_(best_micro_kernel()), batches_(batches), rows_(rows), columns_(columns), depth_(depth) {}
  void run(const LaunchContext& context) const;

 protected:
  ~TileProduct() = default;
  struct Range {
    int64_t begin, count;
  };
  // Left side: rows x depth values, rows kRowStride apart.
  virtual void fetch_rows(int64_t batch, Range rows, Range depth, float* out) const = 0;
  // Right side, as panels of micro_.columns columns, panel_stride() floats apart: in each, depth rows of
  // micro_.columns values, zeros past `columns`.
  virtual void fetch_columns(int64_t batch, Range depth, Range columns, float* out) const = 0;
  int64_t panel_stride() const { return int64_t{kDepthBlock} * micro_.columns; }
  // Where the right side's element (k, n) of a batch stands if its rows can be used unpacked, else null.
  virtual const float* direct_panel(int64_t, int64_t, int64_t, int64_t&) const { return nullptr; }
  // Results: rows of `ld` values; may be changed in place on the way out.
  virtual void write(int64_t batch, Range rows, Range columns, float* tile, int64_t ld) const = 0;

  const MicroKernel& micro_;

 private:
  struct Tiling {
    int64_t rows, columns, row_tiles, column_tiles;
  };
  Tiling tiling(int threads) const;
  void run_tile(int64_t batch, Range rows, Range columns, const Tiling& tiling, float* scratch) const;
  void multiply(const float* a, const float* b, int64_t ldb, int64_t rows, int64_t depth, float* c,
                int64_t ldc, bool accumulate) const;

  int64_t batches_, rows_, columns_, depth_;
};

}  // namespace ge::kernels
