// dot_blocked_f32 and dot_blocked_f16: cache-blocked products with float accumulation on the widest vectors
// the machine has. Any strides: transposes cost a packed transpose at most. Entry: the two functions.
#include <algorithm>

#include "kernels/common/activate_row.h"
#include "kernels/common/strided_walk.h"
#include "kernels/dot/dot_row.h"
#include "kernels/dot/float_access.h"
#include "kernels/dot/tile_product.h"

namespace ge::kernels {
namespace {

int64_t batches_of(const DotArgs& args) {
  int64_t n = 1;
  for (int i = 0; i < args.out.rank - 2; ++i) n *= args.out.dims[i];
  return n;
}

class DotProduct final : public TileProduct {
 public:
  explicit DotProduct(const DotArgs& args)
      : TileProduct(batches_of(args), args.out.dims[args.out.rank - 2], args.out.dims[args.out.rank - 1],
                    args.lhs.dims[args.lhs.rank - 1]),
        args_(args),
        m_(args.out.rank - 2),
        n_(args.out.rank - 1) {}

 private:
  int64_t batch_offset(const TensorView& view, int64_t batch) const {
    return StridedWalk<1>(args_.out.dims, m_, {view.strides}, batch).offset(0);
  }

  void fetch_rows(int64_t batch, Range rows, Range depth, float* out) const override {
    const TensorView& lhs = args_.lhs;
    const int64_t row_step = lhs.strides[m_], depth_step = lhs.strides[n_];
    const int64_t base = batch_offset(lhs, batch) + rows.begin * row_step + depth.begin * depth_step;
    if (lhs.dtype == DType::float32 && row_step == 1 && depth_step != 1) {
      micro_.transpose(static_cast<const float*>(lhs.data) + base, depth_step, depth.count, rows.count, out,
                       kRowStride);
      return;
    }
    for (int64_t i = 0; i < rows.count; ++i)
      read_floats(lhs, base + i * row_step, depth_step, depth.count, out + i * kRowStride);
  }

  void fetch_columns(int64_t batch, Range depth, Range columns, float* out) const override {
    const TensorView& rhs = args_.rhs;
    const int64_t depth_step = rhs.strides[m_], column_step = rhs.strides[n_];
    const int64_t base = batch_offset(rhs, batch) + depth.begin * depth_step + columns.begin * column_step;
    if (depth_step == 1 && column_step != 1)
      return fetch_transposed(base, column_step, depth.count, columns.count, out);
    const int64_t width = micro_.columns, whole = columns.count / width * width, rest = columns.count - whole;
    float* last = out + whole / width * panel_stride();
    for (int64_t k = 0; k < depth.count; ++k) {
      const int64_t row = base + k * depth_step;
      if (column_step == 1 && k + kPrefetchRows < depth.count)
        prefetch(rhs, row + kPrefetchRows * depth_step, columns.count);
      if (rhs.dtype == DType::float32)
        micro_.copy_runs(static_cast<const float*>(rhs.data) + row, column_step, width * column_step, width,
                         whole / width, out + k * width, panel_stride());
      else
        for (int64_t j = 0; j < whole; j += width)
          read_floats(rhs, row + j * column_step, column_step, width, out + j * kDepthBlock + k * width);
      if (rest == 0) continue;
      read_floats(rhs, row + whole * column_step, column_step, rest, last + k * width);
      std::fill(last + k * width + rest, last + (k + 1) * width, 0.0f);
    }
  }

  // Rows stand far apart, and no hardware prefetch crosses a page.
  static constexpr int64_t kPrefetchRows = 8;
  static void prefetch(const TensorView& view, int64_t offset, int64_t count) {
    const char* begin = address_of(view, offset);
    for (const char* p = begin; p < address_of(view, offset + count); p += 64) __builtin_prefetch(p);
  }

  // Memory runs along depth: whole runs are read (and converted where they are no floats), then transposed.
  void fetch_transposed(int64_t base, int64_t column_step, int64_t depth, int64_t columns, float* out) const {
    const TensorView& rhs = args_.rhs;
    const int64_t width = micro_.columns;
    float runs[4 * kDepthBlock];
    for (int64_t j = 0; j < columns; j += 4) {
      const int64_t count = std::min<int64_t>(4, columns - j);
      float* to = out + j / width * panel_stride() + j % width;
      if (rhs.dtype == DType::float32) {
        micro_.transpose(static_cast<const float*>(rhs.data) + base + j * column_step, column_step, count,
                         depth, to, width);
      } else {
        for (int64_t r = 0; r < count; ++r)
          read_floats(rhs, base + (j + r) * column_step, 1, depth, runs + r * kDepthBlock);
        micro_.transpose(runs, kDepthBlock, count, depth, to, width);
      }
    }
    const int64_t used = columns % width;
    float* last = out + columns / width * panel_stride();
    for (int64_t k = 0; used != 0 && k < depth; ++k)
      std::fill(last + k * width + used, last + (k + 1) * width, 0.0f);
  }

  const float* direct_panel(int64_t batch, int64_t depth, int64_t column, int64_t& ldb) const override {
    const TensorView& rhs = args_.rhs;
    if (rhs.dtype != DType::float32 || rhs.strides[n_] != 1) return nullptr;
    ldb = rhs.strides[m_];
    return static_cast<const float*>(rhs.data) + batch_offset(rhs, batch) + depth * ldb + column;
  }

  void write(int64_t batch, Range rows, Range columns, float* tile, int64_t ld) const override {
    const TensorView& out = args_.out;
    const auto start = [&](const TensorView& view) {
      return batch_offset(view, batch) + rows.begin * view.strides[m_] + columns.begin * view.strides[n_];
    };
    const int64_t out_base = start(out);
    for (int64_t i = 0; i < rows.count; ++i) {
      float* values = tile + i * ld;
      for (const TensorView* added : {&args_.bias, &args_.residual})
        if (added->data != nullptr)
          add_floats(*added, start(*added) + i * added->strides[m_], added->strides[n_], columns.count,
                     values);
      if (args_.activation.op != 0) activate_row(args_.activation, values, columns.count);
      write_floats(values, columns.count, out, out_base + i * out.strides[m_], out.strides[n_]);
    }
  }

  const DotArgs& args_;
  int m_, n_;
};

constexpr auto kFloatOperands = dot_operands({DType::float32});
constexpr auto kHalfOperands = dot_operands({DType::float16, DType::bfloat16});

}  // namespace

extern constinit const KernelRow dot_blocked_f32_row = {
    .name = "dot_blocked_f32",
    .revision = 2,
    .operands = kFloatOperands,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .check = check_dot,
    .efficiency = {0.70, 0.9},
    .summary = "cache-blocked SIMD matrix product, any strides",
};
extern constinit const KernelRow dot_blocked_f16_row = {
    .name = "dot_blocked_f16",
    .revision = 2,
    .operands = kHalfOperands,
    .attrs = kDotAttrs,
    .args_size = sizeof(DotArgs),
    .args = kDotArgs,
    .check = check_dot,
    .efficiency = {0.70, 0.9},
    .summary = "the same for float16 and bfloat16, accumulated in float32",
};

void dot_blocked_f32(const void* raw, const LaunchContext& context) {
  DotProduct(*static_cast<const DotArgs*>(raw)).run(context);
}
void dot_blocked_f16(const void* raw, const LaunchContext& context) {
  DotProduct(*static_cast<const DotArgs*>(raw)).run(context);
}

}  // namespace ge::kernels
