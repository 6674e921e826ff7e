// conv_gemm_f32 and conv_gemm_f16: NCHW convolution of one or two spatial axes as a blocked product whose
// right side is gathered from the input panel by panel; with one input channel a group (depthwise) a direct
// sum over planes. Accumulates in float. Entry: the two functions.
#include <algorithm>

#include "kernels/common/activate_row.h"
#include "kernels/common/strided_walk.h"
#include "kernels/conv/conv_row.h"
#include "kernels/conv/plane.h"
#include "kernels/dot/tile_product.h"

namespace ge::kernels {
namespace {

int64_t taps_of(const ConvArgs& args) {
  int64_t taps = 1;
  for (int i = 2; i < args.w.rank; ++i) taps *= args.w.dims[i];
  return taps;
}
int64_t positions_of(const ConvArgs& args) {
  const PlaneAxes y = plane_axes(args.y);
  return y.height * y.width;
}

class ConvProduct final : public TileProduct {
 public:
  explicit ConvProduct(const ConvArgs& args)
      : TileProduct(args.y.dims[0] * args.groups, args.y.dims[1] / args.groups, positions_of(args),
                    args.w.dims[1] * taps_of(args)),
        args_(args),
        x_(plane_axes(args.x)),
        w_(plane_axes(args.w)),
        y_(plane_axes(args.y)),
        window_(plane_window(args.window, args.y.rank)),
        group_rows_(args.y.dims[1] / args.groups) {
    TensorView row = args.w;
    row.dims[0] = 1;
    dense_weights_ = is_contiguous(row);
    // A 1 x 1 window that moves by one reads positions as they lie: the plane is one row.
    const bool point = w_.height * w_.width == 1 && window_.stride[0] == 1 && window_.stride[1] == 1 &&
                       window_.pad[0] == 0 && window_.pad[1] == 0 && x_.height == y_.height &&
                       x_.width == y_.width && x_.row_step == x_.width * x_.step;
    flat_width_ = point ? y_.height * y_.width : y_.width;
    if (point) x_ = {1, x_.height * x_.width, 0, x_.step};
  }

 private:
  void fetch_rows(int64_t batch, Range rows, Range depth, float* out) const override {
    const int64_t first = batch % args_.groups * group_rows_ + rows.begin;
    for (int64_t i = 0; i < rows.count; ++i) {
      float* to = out + i * kRowStride;
      const int64_t base = (first + i) * args_.w.strides[0];
      if (dense_weights_) {
        if (i + kPrefetchRows < rows.count)
          prefetch(base + kPrefetchRows * args_.w.strides[0] + depth.begin, depth.count);
        read_floats(args_.w, base + depth.begin, 1, depth.count, to);
        continue;
      }
      StridedWalk<1> walk(args_.w.dims + 1, args_.w.rank - 1, {args_.w.strides + 1}, depth.begin);
      for (int64_t k = 0; k < depth.count; ++k, walk.next())
        read_floats(args_.w, base + walk.offset(0), 1, 1, to + k);
    }
  }

  // Rows of weights stand far apart and are read once: no hardware prefetch crosses a page.
  static constexpr int64_t kPrefetchRows = 6;
  void prefetch(int64_t offset, int64_t count) const {
    const char* begin = address_of(args_.w, offset);
    for (const char* p = begin; p < address_of(args_.w, offset + count); p += 64) __builtin_prefetch(p);
  }

  struct Segment {
    int64_t column, count, row, first;
  };  // output positions of a panel that lie in one row

  int cut_panel(Range columns, Segment* segments) const {
    int count = 0;
    for (int64_t j = 0; j < columns.count;) {
      const int64_t position = columns.begin + j, row = position / flat_width_,
                    first = position % flat_width_;
      const int64_t length = std::min(columns.count - j, flat_width_ - first);
      segments[count++] = {j, length, row, first};
      j += length;
    }
    return count;
  }

  void fetch_columns(int64_t batch, Range depth, Range columns, float* out) const override {
    const int64_t width = micro_.columns;
    const int64_t base = batch / args_.groups * args_.x.strides[0] +
                         batch % args_.groups * args_.w.dims[1] * args_.x.strides[1];
    for (int64_t j = 0; j < columns.count; j += width) {
      const int64_t used = std::min(width, columns.count - j);
      Segment segments[kMaxMicroColumns];
      const int count = cut_panel({columns.begin + j, used}, segments);
      if (args_.x.dtype == DType::float32)
        fetch_panel_by_taps(base, depth, segments, count, used, out + j * kDepthBlock);
      else
        fetch_panel(base, depth, segments, count, used, out + j * kDepthBlock);
    }
  }

  // The same for floats, a tap at a time: where its rows begin and end is the same in every channel.
  void fetch_panel_by_taps(int64_t base, Range depth, const Segment* segments, int count, int64_t used,
                           float* out) const {
    const int64_t width = micro_.columns, taps = w_.height * w_.width, end = depth.begin + depth.count;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t first = depth.begin + (tap - depth.begin % taps + taps) % taps;
      if (first >= end) continue;
      const int64_t runs = (end - first + taps - 1) / taps;
      const int64_t channel_base = base + first / taps * args_.x.strides[1];
      float* to = out + (first - depth.begin) * width;
      for (int s = 0; s < count; ++s)
        fetch_segments(channel_base, tap, segments[s], runs, to + segments[s].column, taps * width);
    }
    if (used < width) fill_runs(width - used, depth.count, out + used, width);
  }

  // One tap of a segment in `runs` channels from `base` on.
  void fetch_segments(int64_t base, int64_t tap, const Segment& segment, int64_t runs, float* out,
                      int64_t out_step) const {
    const int64_t row =
        segment.row * window_.stride[0] - window_.pad[0] + tap / w_.width * window_.dilation[0];
    if (row < 0 || row >= x_.height) return fill_runs(segment.count, runs, out, out_step);
    const int64_t stride = window_.stride[1];
    const int64_t start = segment.first * stride - window_.pad[1] + tap % w_.width * window_.dilation[1];
    const Inside in = inside_of(start, stride, x_.width, segment.count);
    if (in.first > 0) fill_runs(in.first, runs, out, out_step);
    if (in.last < segment.count) fill_runs(segment.count - in.last, runs, out + in.last, out_step);
    if (in.last == in.first) return;
    const float* from = static_cast<const float*>(args_.x.data) + base + row * x_.row_step +
                        (start + in.first * stride) * x_.step;
    micro_.copy_runs(from, stride * x_.step, args_.x.strides[1], in.last - in.first, runs, out + in.first,
                     out_step);
  }

  static void fill_runs(int64_t count, int64_t runs, float* out, int64_t out_step) {
    for (int64_t r = 0; r < runs; ++r, out += out_step) std::fill(out, out + count, 0.0f);
  }

  void fetch_panel(int64_t base, Range depth, const Segment* segments, int count, int64_t used,
                   float* out) const {
    const int64_t width = micro_.columns, taps = w_.height * w_.width;
    for (int64_t k = 0; k < depth.count; ++k) {
      const int64_t step = depth.begin + k, channel = step / taps, tap = step % taps;
      const int64_t kh = tap / w_.width, kw = tap % w_.width;
      float* to = out + k * width;
      for (int s = 0; s < count; ++s) {
        const Segment& segment = segments[s];
        const int64_t row = segment.row * window_.stride[0] - window_.pad[0] + kh * window_.dilation[0];
        const int64_t start = segment.first * window_.stride[1] - window_.pad[1] + kw * window_.dilation[1];
        fetch_segment(base + channel * args_.x.strides[1], row, start, segment.count, to + segment.column);
      }
      std::fill(to + used, to + width, 0.0f);
    }
  }

  void fetch_segment(int64_t base, int64_t row, int64_t start, int64_t count, float* out) const {
    if (row < 0 || row >= x_.height) {
      std::fill(out, out + count, 0.0f);
      return;
    }
    const int64_t stride = window_.stride[1];
    const Inside in = inside_of(start, stride, x_.width, count);
    std::fill(out, out + in.first, 0.0f);
    read_floats(args_.x, base + row * x_.row_step + (start + in.first * stride) * x_.step, stride * x_.step,
                in.last - in.first, out + in.first);
    std::fill(out + in.last, out + count, 0.0f);
  }

  void write(int64_t batch, Range rows, Range columns, float* tile, int64_t ld) const override {
    for (int64_t i = 0; i < rows.count; ++i) {
      const int64_t channel = batch % args_.groups * group_rows_ + rows.begin + i;
      float* values = tile + i * ld;
      if (args_.bias.data != nullptr)
        add_floats(args_.bias, channel * args_.bias.strides[0], 0, columns.count, values);
      if (args_.residual.data != nullptr)
        add_positions(batch / args_.groups * args_.residual.strides[0] + channel * args_.residual.strides[1],
                      columns, values);
      if (args_.activation.op != 0) activate_row(args_.activation, values, columns.count);
      write_positions(batch / args_.groups * args_.y.strides[0] + channel * args_.y.strides[1], columns,
                      values);
    }
  }

  void add_positions(int64_t base, Range columns, float* values) const {
    const PlaneAxes axes = plane_axes(args_.residual);
    for (int64_t j = 0; j < columns.count;) {
      const int64_t row = (columns.begin + j) / y_.width, first = (columns.begin + j) % y_.width;
      const bool one_run = axes.row_step == y_.width * axes.step;
      const int64_t count = one_run ? columns.count : std::min(columns.count - j, y_.width - first);
      add_floats(args_.residual, base + row * axes.row_step + first * axes.step, axes.step, count,
                 values + j);
      j += count;
    }
  }

  void write_positions(int64_t base, Range columns, const float* values) const {
    if (y_.row_step == y_.width * y_.step || y_.height == 1) {
      write_floats(values, columns.count, args_.y, base + columns.begin * y_.step, y_.step);
      return;
    }
    for (int64_t j = 0; j < columns.count;) {
      const int64_t row = (columns.begin + j) / y_.width, first = (columns.begin + j) % y_.width;
      const int64_t count = std::min(columns.count - j, y_.width - first);
      write_floats(values + j, count, args_.y, base + row * y_.row_step + first * y_.step, y_.step);
      j += count;
    }
  }

  const ConvArgs& args_;
  PlaneAxes x_, w_, y_;
  PlaneWindow window_;
  int64_t group_rows_, flat_width_ = 0;
  bool dense_weights_ = false;
};

// One input channel a group: each output plane is a sum of shifted input rows.
class DepthwisePlanes {
 public:
  explicit DepthwisePlanes(const ConvArgs& args)
      : args_(args),
        x_(plane_axes(args.x)),
        w_(plane_axes(args.w)),
        y_(plane_axes(args.y)),
        window_(plane_window(args.window, args.y.rank)),
        group_rows_(args.y.dims[1] / args.groups) {}
  int64_t count() const { return args_.y.dims[0] * args_.y.dims[1]; }
  int64_t scratch_floats() const { return y_.width + x_.height * x_.width; }

  void run(int64_t item, float* scratch) const {
    const int64_t image = item / args_.y.dims[1], channel = item % args_.y.dims[1];
    float* acc = scratch;
    const float* x = read_plane(
        args_.x, x_, image * args_.x.strides[0] + channel / group_rows_ * args_.x.strides[1], acc + y_.width);
    for (int64_t row = 0; row < y_.height; ++row) {
      std::fill(acc, acc + y_.width, 0.0f);
      sum_row(x, channel, row, acc);
      if (args_.bias.data != nullptr)
        add_floats(args_.bias, channel * args_.bias.strides[0], 0, y_.width, acc);
      if (const TensorView& r = args_.residual; r.data != nullptr)
        add_floats(r, image * r.strides[0] + channel * r.strides[1] + row * plane_axes(r).row_step,
                   plane_axes(r).step, y_.width, acc);
      if (args_.activation.op != 0) activate_row(args_.activation, acc, y_.width);
      write_floats(acc, y_.width, args_.y,
                   image * args_.y.strides[0] + channel * args_.y.strides[1] + row * y_.row_step, y_.step);
    }
  }

 private:
  void sum_row(const float* x, int64_t channel, int64_t row, float* acc) const {
    for (int64_t kh = 0; kh < w_.height; ++kh) {
      const int64_t in_row = row * window_.stride[0] - window_.pad[0] + kh * window_.dilation[0];
      if (in_row < 0 || in_row >= x_.height) continue;
      for (int64_t kw = 0; kw < w_.width; ++kw) {
        float weight = 0;
        read_floats(args_.w, channel * args_.w.strides[0] + kh * w_.row_step + kw * w_.step, 1, 1, &weight);
        const int64_t start = kw * window_.dilation[1] - window_.pad[1], stride = window_.stride[1];
        const Inside in = inside_of(start, stride, x_.width, y_.width);
        const float* from = x + in_row * x_.width + start;
        if (stride == 1) {
          for (int64_t j = in.first; j < in.last; ++j) acc[j] += weight * from[j];
        } else {
          for (int64_t j = in.first; j < in.last; ++j) acc[j] += weight * from[j * stride];
        }
      }
    }
  }

  const ConvArgs& args_;
  PlaneAxes x_, w_, y_;
  PlaneWindow window_;
  int64_t group_rows_;
};

void run(const void* raw, const LaunchContext& context) {
  const ConvArgs& args = *static_cast<const ConvArgs*>(raw);
  if (element_count(args.y) == 0) return;
  if (args.w.dims[1] != 1 || args.groups == 1) return ConvProduct(args).run(context);
  const DepthwisePlanes planes(args);
  context.parallel_for(planes.count(), 1, [&](int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>(planes.scratch_floats()) * sizeof(float);
    auto* scratch = reinterpret_cast<float*>(context.scratch(context.pool, bytes));
    for (int64_t item = begin; item < end; ++item) planes.run(item, scratch);
  });
}

constexpr auto kFloatOperands = conv_operands({DType::float32}, 4);
constexpr auto kHalfOperands = conv_operands({DType::float16, DType::bfloat16}, 4);

}  // namespace

extern constinit const KernelRow conv_gemm_f32_row = {
    .name = "conv_gemm_f32",
    .revision = 2,
    .operands = kFloatOperands,
    .attrs = kConvAttrs,
    .args_size = sizeof(ConvArgs),
    .args = kConvArgs,
    .check = check_conv,
    .efficiency = {0.55, 0.9},
    .summary = "1-D and 2-D convolution as a blocked SIMD product; depthwise directly",
};
extern constinit const KernelRow conv_gemm_f16_row = {
    .name = "conv_gemm_f16",
    .revision = 2,
    .operands = kHalfOperands,
    .attrs = kConvAttrs,
    .args_size = sizeof(ConvArgs),
    .args = kConvArgs,
    .check = check_conv,
    .efficiency = {0.55, 0.9},
    .summary = "the same for float16 and bfloat16, accumulated in float32",
};

void conv_gemm_f32(const void* raw, const LaunchContext& context) {
  run(raw, context);
}
void conv_gemm_f16(const void* raw, const LaunchContext& context) {
  run(raw, context);
}

}  // namespace ge::kernels
