// pool_reference: each window in ascending order, in double or int64. Entry: pool_reference.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/pool/pool_row.h"

namespace ge::kernels {

Status check_pool(const LaunchShape& shape) {
  const TensorView &x = shape.operands[0], &y = shape.operands[1];
  if (x.rank != y.rank) return refuse("x has dims " + dims_text(x) + ", y has " + dims_text(y));
  for (const auto name : {"strides", "dilations", "pads_begin", "pads_end", "kernel"}) {
    GE_TRY(check_list(shape.attrs, name, x.rank - 2));
  }
  GE_TRY(check_dim(x.dims[0], y.dims[0], "x's batch"));
  GE_TRY(check_dim(x.dims[1], y.dims[1], "x's channels"));
  GE_TRY(check_same_dtype(x, "x", y, "y"));
  return check_writable(y, "y");
}

namespace {

// The window of one output position: in each axis the kernel steps [first, last) that lie inside the input.
struct Reach {
  int64_t start[kMaxSpatial] = {}, first[kMaxSpatial] = {}, extent[kMaxSpatial] = {};
  int64_t inside = 1, padded = 1;  // positions inside the input, and inside the padded input
};

int64_t ceil_div(int64_t a, int64_t b) {
  return a <= 0 ? 0 : (a + b - 1) / b;
}

Reach reach_of(const PoolArgs& args, const StridedWalk<2>& out, int spatial) {
  Reach r;
  for (int s = 0; s < spatial; ++s) {
    const int64_t dilation = args.window.dilations[s], kernel = args.kernel[s], size = args.x.dims[2 + s];
    r.start[s] = out.index(2 + s) * args.window.strides[s] - args.window.pads_begin[s];
    r.first[s] = std::min(kernel, ceil_div(-r.start[s], dilation));
    const int64_t last = std::clamp(ceil_div(size - r.start[s], dilation), r.first[s], kernel);
    r.extent[s] = last - r.first[s];
    r.inside *= r.extent[s];
    r.padded *= std::min(kernel, ceil_div(size + args.pads_end[s] - r.start[s], dilation));
  }
  return r;
}

template <class T>
T lowest(DType dtype) {
  if constexpr (std::is_same_v<T, double>) {
    return -std::numeric_limits<double>::infinity();
  } else {
    return class_of(dtype) == DTypeClass::kSigned
               ? std::numeric_limits<int64_t>::min() >> (64 - bits_of(dtype))
               : 0;
  }
}

template <class T, class F>
void visit_window(const PoolArgs& args, const Reach& r, int64_t base, int spatial, F&& visit) {
  int64_t steps[kMaxSpatial] = {};
  for (int s = 0; s < spatial; ++s) {
    steps[s] = args.window.dilations[s] * args.x.strides[2 + s];
    base += (r.start[s] + r.first[s] * args.window.dilations[s]) * args.x.strides[2 + s];
  }
  StridedWalk<1> walk(r.extent, spatial, {steps}, 0);
  for (int64_t i = 0; i < r.inside; ++i, walk.next()) visit(load<T>(args.x, base + walk.offset(0)));
}

template <class T>
T pool_max(const PoolArgs& args, const Reach& r, int64_t base, int spatial) {
  T best = lowest<T>(args.x.dtype);
  visit_window<T>(args, r, base, spatial, [&](T v) {
    if constexpr (std::is_same_v<T, double>) {
      if (std::isnan(v) || v > best) best = v;
    } else {
      if (less_as(args.x.dtype, best, v)) best = v;
    }
  });
  return best;
}

template <class T>
T pool_average(const PoolArgs& args, const Reach& r, int64_t base, int spatial) {
  T sum{};
  visit_window<T>(args, r, base, spatial, [&](T v) {
    if constexpr (std::is_same_v<T, double>)
      sum += v;
    else
      sum = wrapping_add(sum, v);
  });
  const int64_t count = args.count_include_pad != 0 ? r.padded : r.inside;
  return count == 0 ? T{} : sum / static_cast<T>(count);
}

template <class T>
void pool_range(const PoolArgs& args, int64_t begin, int64_t end) {
  const int spatial = args.y.rank - 2;
  const int64_t in_strides[kMaxRank] = {args.x.strides[0], args.x.strides[1]};
  StridedWalk<2> walk(args.y.dims, args.y.rank, {in_strides, args.y.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    const Reach r = reach_of(args, walk, spatial);
    const bool max = static_cast<PoolKind>(args.kind) == PoolKind::kMax;
    store(args.y, walk.offset(1),
          max ? pool_max<T>(args, r, walk.offset(0), spatial)
              : pool_average<T>(args, r, walk.offset(0), spatial));
  }
}

constexpr auto kOperands = pool_operands(kNumberTypes);

}  // namespace

extern constinit const KernelRow pool_reference_row = {
    .name = "pool_reference",
    .operands = kOperands,
    .attrs = kPoolAttrs,
    .args_size = sizeof(PoolArgs),
    .args = kPoolArgs,
    .check = check_pool,
    .efficiency = kReferenceEfficiency,
    .summary = "max and average pooling of 1 to 3 spatial axes, in double or int64",
};

void pool_reference(const void* raw, const LaunchContext& context) {
  const PoolArgs& args = *static_cast<const PoolArgs*>(raw);
  const int64_t window =
      args.kernel[0] * std::max<int64_t>(1, args.kernel[1]) * std::max<int64_t>(1, args.kernel[2]);
  context.parallel_for(element_count(args.y), grain_for(window), [&](int64_t begin, int64_t end) {
    is_float(args.y.dtype) ? pool_range<double>(args, begin, end) : pool_range<int64_t>(args, begin, end);
  });
}

}  // namespace ge::kernels
