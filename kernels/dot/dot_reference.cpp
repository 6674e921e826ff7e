// dot_reference: 16 x 32 tiles of outputs, operands unpacked to double or int64, k ascending. Entry:
// dot_reference.
#include "kernels/common/accumulate_tile.h"
#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/dot/dot_row.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

Status check_dot(const LaunchShape& shape) {
  const TensorView &lhs = shape.operands[0], &rhs = shape.operands[1], &bias = shape.operands[2],
                   &out = shape.operands[3], &residual = shape.operands[4];
  if (lhs.rank != out.rank || rhs.rank != out.rank) {
    return refuse("lhs has dims " + dims_text(lhs) + ", rhs " + dims_text(rhs) + ", out " + dims_text(out));
  }
  const int m = out.rank - 2, n = out.rank - 1;
  for (int i = 0; i < m; ++i) {
    GE_TRY(check_dim(lhs.dims[i], out.dims[i], "lhs's batch axis " + std::to_string(i)));
    GE_TRY(check_dim(rhs.dims[i], out.dims[i], "rhs's batch axis " + std::to_string(i)));
  }
  GE_TRY(check_dim(lhs.dims[m], out.dims[m], "lhs's row count"));
  GE_TRY(check_dim(rhs.dims[n], out.dims[n], "rhs's column count"));
  GE_TRY(check_dim(rhs.dims[m], lhs.dims[n], "rhs's row count"));
  GE_TRY(check_same_dtype(lhs, "lhs", rhs, "rhs"));
  GE_TRY(check_same_dtype(lhs, "lhs", out, "out"));
  if (!is_absent(bias)) {
    GE_TRY(check_same_dims(bias, "bias", out, "out"));
    GE_TRY(check_same_dtype(bias, "bias", out, "out"));
  }
  if (!is_absent(residual)) {
    GE_TRY(check_same_dims(residual, "residual", out, "out"));
    GE_TRY(check_same_dtype(residual, "residual", out, "out"));
  }
  GE_TRY(check_activation(shape.attrs, out.dtype));
  return check_writable(out, "out");
}

namespace {

template <class T>
class DotTiles {
 public:
  using Tile = AccumulateTile<T>;
  explicit DotTiles(const DotArgs& args)
      : args_(args),
        m_(args.out.rank - 2),
        n_(args.out.rank - 1),
        row_tiles_((args.out.dims[m_] + Tile::kRows - 1) / Tile::kRows),
        column_tiles_((args.out.dims[n_] + Tile::kColumns - 1) / Tile::kColumns) {
    for (int i = 0; i < m_; ++i) batches_ *= args.out.dims[i];
  }
  int64_t count() const { return batches_ * row_tiles_ * column_tiles_; }

  void run(int64_t item, Tile& tile) const {
    const int64_t column = item % column_tiles_ * Tile::kColumns,
                  row = item / column_tiles_ % row_tiles_ * Tile::kRows;
    const StridedWalk<5> batch(
        args_.out.dims, m_,
        {args_.lhs.strides, args_.rhs.strides, args_.bias.strides, args_.out.strides, args_.residual.strides},
        item / column_tiles_ / row_tiles_);
    const int64_t rows = std::min<int64_t>(Tile::kRows, args_.out.dims[m_] - row);
    const int64_t columns = std::min<int64_t>(Tile::kColumns, args_.out.dims[n_] - column);
    tile.clear();
    for (int64_t k = 0; k < args_.lhs.dims[n_]; k += Tile::kDepth) {
      const int64_t depth = std::min<int64_t>(Tile::kDepth, args_.lhs.dims[n_] - k);
      unpack(tile, batch.offset(0) + row * args_.lhs.strides[m_] + k * args_.lhs.strides[n_],
             batch.offset(1) + k * args_.rhs.strides[m_] + column * args_.rhs.strides[n_], rows, columns,
             depth);
      tile.accumulate(rows, depth);
    }
    const auto start = [&](size_t operand, const TensorView& view) {
      return batch.offset(operand) + row * view.strides[m_] + column * view.strides[n_];
    };
    write(tile, {start(2, args_.bias), start(4, args_.residual), start(3, args_.out)}, rows, columns);
  }

 private:
  void unpack(Tile& tile, int64_t lhs, int64_t rhs, int64_t rows, int64_t columns, int64_t depth) const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < depth; ++k) {
        tile.a[i][k] = load<T>(args_.lhs, lhs + i * args_.lhs.strides[m_] + k * args_.lhs.strides[n_]);
      }
    }
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < columns; ++j) {
        tile.b[k][j] = load<T>(args_.rhs, rhs + k * args_.rhs.strides[m_] + j * args_.rhs.strides[n_]);
      }
      std::fill(tile.b[k] + columns, tile.b[k] + Tile::kColumns, T{});
    }
  }

  struct Starts {
    int64_t bias, residual, out;
  };
  static T sum_of(T a, T b) {
    if constexpr (std::is_same_v<T, double>)
      return a + b;
    else
      return wrapping_add(a, b);
  }
  void write(const Tile& tile, const Starts& at, int64_t rows, int64_t columns) const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const auto offset = [&](int64_t start, const TensorView& view) {
          return start + i * view.strides[m_] + j * view.strides[n_];
        };
        T v = tile.acc[i][j];
        for (const auto& [view, start] : {std::pair(&args_.bias, at.bias), {&args_.residual, at.residual}})
          if (view->data != nullptr) v = sum_of(v, load<T>(*view, offset(start, *view)));
        store(args_.out, offset(at.out, args_.out), activate(args_.activation, args_.out.dtype, v));
      }
    }
  }

  const DotArgs& args_;
  int m_, n_;
  int64_t row_tiles_, column_tiles_, batches_ = 1;
};

template <class T>
void run(const DotArgs& args, const LaunchContext& context) {
  if (element_count(args.out) == 0) return;
  const DotTiles<T> tiles(args);
  context.parallel_for(tiles.count(), 1, [&](int64_t begin, int64_t end) {
    auto& tile =
        *reinterpret_cast<AccumulateTile<T>*>(context.scratch(context.pool, sizeof(AccumulateTile<T>)));
    for (int64_t item = begin; item < end; ++item) tiles.run(item, tile);
  });
}

constexpr auto kOperands = dot_operands(kDotTypes);

}  // namespace

extern constinit const KernelRow dot_reference_row = {
    .name = "dot_reference",
    .operands = kOperands,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .check = check_dot,
    .efficiency = kReferenceEfficiency,
    .summary = "matrix product of any strides, accumulated in double or int64",
};

void dot_reference(const void* raw, const LaunchContext& context) {
  const DotArgs& args = *static_cast<const DotArgs*>(raw);
  is_float(args.out.dtype) ? run<double>(args, context) : run<int64_t>(args, context);
}

}  // namespace ge::kernels
