// scan_reference: one sum after the other; columns on all threads. Entry: scan_reference.
#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/scan/scan_row.h"

namespace ge::kernels {
namespace {

double plus(double a, double b) {
  return a + b;
}
int64_t plus(int64_t a, int64_t b) {
  return wrapping_add(a, b);
}

template <class T>
void scan_column(const ScanArgs& args, int64_t from, int64_t to) {
  const int64_t extent = args.in.dims[args.axis];
  const int64_t in_stride = args.in.strides[args.axis], out_stride = args.out.strides[args.axis];
  T sum = 0;
  for (int64_t k = 0; k < extent; ++k) {
    const int64_t i = args.reverse != 0 ? extent - 1 - k : k;
    const T with = plus(sum, load<T>(args.in, from + i * in_stride));
    store(args.out, to + i * out_stride, args.exclusive != 0 ? sum : with);
    sum = with;
  }
}

template <class T>
void scan_columns(const ScanArgs& args, int64_t begin, int64_t end) {
  int64_t dims[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) dims[i] = i == args.axis ? 1 : args.in.dims[i];
  StridedWalk<2> walk(dims, args.in.rank, {args.in.strides, args.out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) scan_column<T>(args, walk.offset(0), walk.offset(1));
}

}  // namespace

extern constinit const KernelRow scan_reference_row = {
    .name = "scan_reference",
    .operands = kScanOperands,
    .attrs = kScanAttrs,
    .args_size = sizeof(ScanArgs),
    .args = kScanArgs,
    .check = check_scan,
    .summary = "sums along an axis, one after the other",
};

void scan_reference(const void* raw, const LaunchContext& context) {
  const ScanArgs& args = *static_cast<const ScanArgs*>(raw);
  const int64_t total = element_count(args.out);
  if (total == 0) return;
  const int64_t extent = args.in.dims[args.axis];
  context.parallel_for(total / extent, grain_for(extent), [&](int64_t begin, int64_t end) {
    is_float(args.in.dtype) ? scan_columns<double>(args, begin, end)
                            : scan_columns<int64_t>(args, begin, end);
  });
}

}  // namespace ge::kernels
