// conv_reference: tiles of 16 output channels x 32 output positions, operands unpacked to double or int64,
// the sum over (channel, kernel position) ascending. Entry: conv_reference.
#include "kernels/common/accumulate_tile.h"
#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/conv/conv_row.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

Status check_conv(const LaunchShape& shape) {
  const TensorView &x = shape.operands[0], &w = shape.operands[1], &bias = shape.operands[2],
                   &y = shape.operands[3], &residual = shape.operands[4];
  const int64_t groups = attr_int(shape.attrs, "groups", 1);
  if (x.rank != y.rank || w.rank != y.rank) {
    return refuse("x has dims " + dims_text(x) + ", w " + dims_text(w) + ", y " + dims_text(y));
  }
  for (const auto name : {"strides", "dilations", "pads_begin"})
    GE_TRY(check_list(shape.attrs, name, x.rank - 2));
  GE_TRY(check_dim(x.dims[0], y.dims[0], "x's batch"));
  GE_TRY(check_dim(w.dims[0], y.dims[1], "w's output channels"));
  if (x.dims[1] % groups != 0 || y.dims[1] % groups != 0) {
    return refuse(std::to_string(groups) + " groups, " + std::to_string(x.dims[1]) + " input and " +
                  std::to_string(y.dims[1]) + " output channels");
  }
  GE_TRY(check_dim(w.dims[1], x.dims[1] / groups, "w's input channels"));
  GE_TRY(check_same_dtype(x, "x", w, "w"));
  GE_TRY(check_same_dtype(x, "x", y, "y"));
  if (!is_absent(bias)) {
    GE_TRY(check_dim(bias.dims[0], y.dims[1], "bias's extent"));
    GE_TRY(check_same_dtype(x, "x", bias, "bias"));
  }
  if (!is_absent(residual)) {
    GE_TRY(check_same_dims(residual, "residual", y, "y"));
    GE_TRY(check_same_dtype(residual, "residual", y, "y"));
  }
  GE_TRY(check_activation(shape.attrs, y.dtype));
  return check_writable(y, "y");
}

namespace {

template <class T>
class ConvTiles {
 public:
  using Tile = AccumulateTile<T>;
  explicit ConvTiles(const ConvArgs& args)
      : args_(args), spatial_(args.y.rank - 2), group_rows_(args.y.dims[1] / args.groups) {
    for (int i = 0; i < spatial_; ++i) {
      positions_ *= args.y.dims[2 + i];
      depth_ *= args.w.dims[2 + i];
    }
    depth_ *= args.w.dims[1];
    row_tiles_ = (group_rows_ + Tile::kRows - 1) / Tile::kRows;
    column_tiles_ = (positions_ + Tile::kColumns - 1) / Tile::kColumns;
  }
  int64_t count() const { return args_.y.dims[0] * args_.groups * row_tiles_ * column_tiles_; }

  void run(int64_t item, Tile& tile) const {
    const int64_t column = item % column_tiles_ * Tile::kColumns;
    const int64_t row_in_group = item / column_tiles_ % row_tiles_ * Tile::kRows;
    const int64_t group = item / column_tiles_ / row_tiles_ % args_.groups;
    const int64_t image = item / column_tiles_ / row_tiles_ / args_.groups;
    const int64_t rows = std::min<int64_t>(Tile::kRows, group_rows_ - row_in_group);
    const int64_t columns = std::min<int64_t>(Tile::kColumns, positions_ - column);
    const int64_t row = group * group_rows_ + row_in_group;
    tile.clear();
    for (int64_t k = 0; k < depth_; k += Tile::kDepth) {
      const int64_t depth = std::min<int64_t>(Tile::kDepth, depth_ - k);
      unpack_weights(tile, row, rows, k, depth);
      for (int64_t j = 0; j < Tile::kColumns; ++j)
        unpack_column(tile, image, group, column + j, j, j < columns, k, depth);
      tile.accumulate(rows, depth);
    }
    write(tile, image, row, column, rows, columns);
  }

 private:
  void unpack_weights(Tile& tile, int64_t row, int64_t rows, int64_t k, int64_t depth) const {
    for (int64_t i = 0; i < rows; ++i) {
      StridedWalk<1> walk(args_.w.dims + 1, spatial_ + 1, {args_.w.strides + 1}, k);
      for (int64_t d = 0; d < depth; ++d, walk.next()) {
        tile.a[i][d] = load<T>(args_.w, (row + i) * args_.w.strides[0] + walk.offset(0));
      }
    }
  }

  // One output position's inputs for steps [k, k + depth) of (channel, kernel position); zeros over padding.
  void unpack_column(Tile& tile, int64_t image, int64_t group, int64_t position, int64_t j, bool used,
                     int64_t k, int64_t depth) const {
    int64_t start[kMaxSpatial] = {};
    for (int s = spatial_ - 1; s >= 0; --s) {
      start[s] = position % args_.y.dims[2 + s] * args_.window.strides[s] - args_.window.pads_begin[s];
      position /= args_.y.dims[2 + s];
    }
    const int64_t base = image * args_.x.strides[0] + group * args_.w.dims[1] * args_.x.strides[1];
    StridedWalk<1> walk(args_.w.dims + 1, spatial_ + 1, {args_.w.strides + 1}, k);
    for (int64_t d = 0; d < depth; ++d, walk.next()) {
      bool inside = used;
      int64_t offset = base + walk.index(0) * args_.x.strides[1];
      for (int s = 0; s < spatial_; ++s) {
        const int64_t p = start[s] + walk.index(1 + s) * args_.window.dilations[s];
        inside = inside && p >= 0 && p < args_.x.dims[2 + s];
        offset += p * args_.x.strides[2 + s];
      }
      tile.b[d][j] = inside ? load<T>(args_.x, offset) : T{};
    }
  }

  static T sum_of(T a, T b) {
    if constexpr (std::is_same_v<T, double>)
      return a + b;
    else
      return wrapping_add(a, b);
  }

  void write(const Tile& tile, int64_t image, int64_t row, int64_t column, int64_t rows,
             int64_t columns) const {
    for (int64_t i = 0; i < rows; ++i) {
      const T bias =
          args_.bias.data != nullptr ? load<T>(args_.bias, (row + i) * args_.bias.strides[0]) : T{};
      const TensorView& residual = args_.residual;
      StridedWalk<2> walk(args_.y.dims + 2, spatial_, {args_.y.strides + 2, residual.strides + 2}, column);
      for (int64_t j = 0; j < columns; ++j, walk.next()) {
        T v = sum_of(tile.acc[i][j], bias);
        if (residual.data != nullptr)
          v = sum_of(v, load<T>(residual, image * residual.strides[0] + (row + i) * residual.strides[1] +
                                              walk.offset(1)));
        store(args_.y, image * args_.y.strides[0] + (row + i) * args_.y.strides[1] + walk.offset(0),
              activate(args_.activation, args_.y.dtype, v));
      }
    }
  }

  const ConvArgs& args_;
  int spatial_;
  int64_t group_rows_, positions_ = 1, depth_ = 1, row_tiles_ = 0, column_tiles_ = 0;
};

template <class T>
void run(const ConvArgs& args, const LaunchContext& context) {
  if (element_count(args.y) == 0) return;
  const ConvTiles<T> tiles(args);
  context.parallel_for(tiles.count(), 1, [&](int64_t begin, int64_t end) {
    auto& tile =
        *reinterpret_cast<AccumulateTile<T>*>(context.scratch(context.pool, sizeof(AccumulateTile<T>)));
    for (int64_t item = begin; item < end; ++item) tiles.run(item, tile);
  });
}

constexpr auto kOperands =
    conv_operands(DTypeSet{DType::float64, DType::float32, DType::float16, DType::bfloat16} | kIntegerTypes);

}  // namespace

extern constinit const KernelRow conv_reference_row = {
    .name = "conv_reference",
    .operands = kOperands,
    .attrs = kConvAttrs,
    .args_size = sizeof(ConvArgs),
    .args = kConvArgs,
    .check = check_conv,
    .efficiency = kReferenceEfficiency,
    .summary = "convolution of 1 to 3 spatial axes, accumulated in double or int64",
};

void conv_reference(const void* raw, const LaunchContext& context) {
  const ConvArgs& args = *static_cast<const ConvArgs*>(raw);
  is_float(args.y.dtype) ? run<double>(args, context) : run<int64_t>(args, context);
}

}  // namespace ge::kernels
