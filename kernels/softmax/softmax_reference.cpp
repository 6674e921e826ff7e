// softmax_reference and log_softmax_reference: three passes over a row, in double. Entry: the two functions.
#include <cmath>
#include <limits>

#include "kernels/common/check.h"
#include "kernels/common/element.h"
#include "kernels/common/rows.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/softmax/softmax.h"

namespace ge::kernels {
namespace {

Status check_softmax(const LaunchShape& shape) {
  const TensorView &x = shape.operands[0], &y = shape.operands[1];
  GE_TRY(check_same_dims(x, "x", y, "y"));
  GE_TRY(check_same_dtype(x, "x", y, "y"));
  GE_TRY(check_axis(attr_int(shape.attrs, "axis", 0), x.rank));
  return check_writable(y, "y");
}

struct Row {
  const SoftmaxArgs& args;
  int64_t x, y;  // offsets of the row's first element
  double at(int64_t i) const { return load<double>(args.x, x + i * args.x.strides[args.axis]); }
  void set(int64_t i, double value) const { store(args.y, y + i * args.y.strides[args.axis], value); }
  int64_t count() const { return args.x.dims[args.axis]; }
};

double row_max(const Row& row) {
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < row.count(); ++i) {
    const double v = row.at(i);
    if (std::isnan(v)) return v;
    if (v > best) best = v;
  }
  return best;
}

void softmax_row(const Row& row, bool logarithm) {
  const double max = row_max(row);
  double sum = 0;
  for (int64_t i = 0; i < row.count(); ++i) sum += std::exp(row.at(i) - max);
  const double log_sum = logarithm ? std::log(sum) : 0;
  for (int64_t i = 0; i < row.count(); ++i) {
    const double shifted = row.at(i) - max;
    row.set(i, logarithm ? shifted - log_sum : std::exp(shifted) / sum);
  }
}

void run(const void* raw, const LaunchContext& context, bool logarithm) {
  const SoftmaxArgs& args = *static_cast<const SoftmaxArgs*>(raw);
  if (element_count(args.x) == 0) return;
  int64_t dims[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) dims[i] = i == args.axis ? 1 : args.x.dims[i];
  const int64_t length = args.x.dims[args.axis];
  context.parallel_for(element_count(args.x) / length, grain_for(length * 8),
                       [&](int64_t begin, int64_t end) {
                         StridedWalk<2> walk(dims, args.x.rank, {args.x.strides, args.y.strides}, begin);
                         for (int64_t i = begin; i < end; ++i, walk.next())
                           softmax_row({args, walk.offset(0), walk.offset(1)}, logarithm);
                       });
}

constexpr OperandRow kOperands[] = {
    {.name = "x", .dtypes = kRealTypes, .min_rank = 1},
    {.name = "y", .role = OperandRole::kOut, .dtypes = kRealTypes, .min_rank = 1, .in_place_of = 0},
};
constexpr AttrRow kAttrs[] = {{.name = "axis", .min = 0, .max = kMaxRank - 1}};
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(SoftmaxArgs, x), 0),
    view_arg(offsetof(SoftmaxArgs, y), 1),
    int_arg(offsetof(SoftmaxArgs, axis), "axis"),
};

}  // namespace

extern constinit const KernelRow softmax_reference_row = {
    .name = "softmax_reference",
    .operands = kOperands,
    .attrs = kAttrs,
    .args_size = sizeof(SoftmaxArgs),
    .args = kArgs,
    .check = check_softmax,
    .efficiency = kReferenceEfficiency,
    .summary = "softmax along an axis, in double",
};
extern constinit const KernelRow log_softmax_reference_row = {
    .name = "log_softmax_reference",
    .operands = kOperands,
    .attrs = kAttrs,
    .args_size = sizeof(SoftmaxArgs),
    .args = kArgs,
    .check = check_softmax,
    .summary = "log softmax along an axis, in double",
};

void softmax_reference(const void* raw, const LaunchContext& context) {
  run(raw, context, false);
}
void log_softmax_reference(const void* raw, const LaunchContext& context) {
  run(raw, context, true);
}

}  // namespace ge::kernels
