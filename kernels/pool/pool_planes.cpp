// pool_planes_f32 and pool_planes_f16: pooling of one or two spatial axes row by row, in float, each window
// column a vector loop over the output row. Entry: the two functions.
#include <algorithm>
#include <limits>

#include "kernels/conv/plane.h"
#include "kernels/launch_context.h"
#include "kernels/pool/pool_row.h"

namespace ge::kernels {
namespace {

class PoolPlanes {
 public:
  explicit PoolPlanes(const PoolArgs& args)
      : args_(args),
        x_(plane_axes(args.x)),
        y_(plane_axes(args.y)),
        window_(plane_window(args.window, args.y.rank)) {
    const int first = args.y.rank == 3 ? 1 : 0;
    for (int i = first; i < 2; ++i) {
      kernel_[i] = args.kernel[i - first];
      pad_end_[i] = args.pads_end[i - first];
    }
  }
  int64_t count() const { return args_.y.dims[0] * args_.y.dims[1]; }
  int64_t scratch_floats() const { return y_.width + x_.height * x_.width; }

  void run(int64_t item, float* scratch) const {
    const int64_t image = item / args_.y.dims[1], channel = item % args_.y.dims[1];
    float* acc = scratch;
    const float* x =
        read_plane(args_.x, x_, image * args_.x.strides[0] + channel * args_.x.strides[1], acc + y_.width);
    for (int64_t row = 0; row < y_.height; ++row) {
      static_cast<PoolKind>(args_.kind) == PoolKind::kMax ? max_row(x, row, acc) : average_row(x, row, acc);
      write_floats(acc, y_.width, args_.y,
                   image * args_.y.strides[0] + channel * args_.y.strides[1] + row * y_.row_step, y_.step);
    }
  }

 private:
  // Calls visit(from, stride, inside) for each window position: inputs of the output row stand at from[j *
  // stride].
  template <class F>
  void each_tap(const float* x, int64_t row, F&& visit) const {
    for (int64_t kh = 0; kh < kernel_[0]; ++kh) {
      const int64_t in_row = row * window_.stride[0] - window_.pad[0] + kh * window_.dilation[0];
      if (in_row < 0 || in_row >= x_.height) continue;
      for (int64_t kw = 0; kw < kernel_[1]; ++kw) {
        const int64_t start = kw * window_.dilation[1] - window_.pad[1];
        visit(x + in_row * x_.width + start, window_.stride[1],
              inside_of(start, window_.stride[1], x_.width, y_.width));
      }
    }
  }

  void max_row(const float* x, int64_t row, float* acc) const {
    std::fill(acc, acc + y_.width, -std::numeric_limits<float>::infinity());
    each_tap(x, row, [acc](const float* from, int64_t stride, Inside in) {
      for (int64_t j = in.first; j < in.last; ++j) {
        const float v = from[j * stride];
        acc[j] = v > acc[j] || v != v ? v : acc[j];
      }
    });
  }

  void average_row(const float* x, int64_t row, float* acc) const {
    std::fill(acc, acc + y_.width, 0.0f);
    each_tap(x, row, [acc](const float* from, int64_t stride, Inside in) {
      for (int64_t j = in.first; j < in.last; ++j) acc[j] += from[j * stride];
    });
    const int64_t rows = positions(0, row, x_.height);
    for (int64_t j = 0; j < y_.width; ++j) {
      const int64_t count = rows * positions(1, j, x_.width);
      acc[j] = count == 0 ? 0 : acc[j] / static_cast<float>(count);
    }
  }

  // Window positions that count along an axis for output position `at`.
  int64_t positions(int axis, int64_t at, int64_t extent) const {
    const int64_t start = at * window_.stride[axis] - window_.pad[axis];
    const int64_t end = args_.count_include_pad != 0 ? extent + pad_end_[axis] : extent;
    const Inside in = inside_of(start, window_.dilation[axis], end, kernel_[axis]);
    return args_.count_include_pad != 0 ? in.last : in.last - in.first;
  }

  const PoolArgs& args_;
  PlaneAxes x_, y_;
  PlaneWindow window_;
  int64_t kernel_[2] = {1, 1}, pad_end_[2] = {0, 0};
};

void run(const void* raw, const LaunchContext& context) {
  const PoolArgs& args = *static_cast<const PoolArgs*>(raw);
  if (element_count(args.y) == 0) return;
  const PoolPlanes planes(args);
  context.parallel_for(planes.count(), 4, [&](int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>(planes.scratch_floats()) * sizeof(float);
    auto* scratch = reinterpret_cast<float*>(context.scratch(context.pool, bytes));
    for (int64_t item = begin; item < end; ++item) planes.run(item, scratch);
  });
}

constexpr auto kFloatOperands = pool_operands({DType::float32}, 4);
constexpr auto kHalfOperands = pool_operands({DType::float16, DType::bfloat16}, 4);

}  // namespace

extern constinit const KernelRow pool_planes_f32_row = {
    .name = "pool_planes_f32",
    .operands = kFloatOperands,
    .attrs = kPoolAttrs,
    .args_size = sizeof(PoolArgs),
    .args = kPoolArgs,
    .check = check_pool,
    .summary = "1-D and 2-D pooling, row by row in float",
};
extern constinit const KernelRow pool_planes_f16_row = {
    .name = "pool_planes_f16",
    .operands = kHalfOperands,
    .attrs = kPoolAttrs,
    .args_size = sizeof(PoolArgs),
    .args = kPoolArgs,
    .check = check_pool,
    .summary = "the same for float16 and bfloat16",
};

void pool_planes_f32(const void* raw, const LaunchContext& context) {
  run(raw, context);
}
void pool_planes_f16(const void* raw, const LaunchContext& context) {
  run(raw, context);
}

}  // namespace ge::kernels
