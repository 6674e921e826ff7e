// reduce_reference: every kind, in double or int64, ascending order, rounded once. Entry: reduce_reference.
#include <cmath>
#include <limits>

#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/reduce/reduce_row.h"

namespace ge::kernels {

Status check_reduce(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &out = shape.operands[1];
  const int64_t axes = attr_int(shape.attrs, "axes", 0);
  const auto kind = static_cast<ReduceKind>(attr_int(shape.attrs, "kind", 0));
  if (in.rank != out.rank) return refuse("in has dims " + dims_text(in) + ", out has " + dims_text(out));
  if ((axes >> in.rank) != 0)
    return refuse("axes mask " + std::to_string(axes) + ", rank " + std::to_string(in.rank));
  for (int i = 0; i < in.rank; ++i) {
    const int64_t expected = ((axes >> i) & 1) != 0 ? 1 : in.dims[i];
    GE_TRY(check_dim(out.dims[i], expected, "out's axis " + std::to_string(i)));
  }
  if (kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin) {
    if (!kIndexTypes.contains(out.dtype))
      return refuse("positions are int64 or int32, out is " + std::string(name_of(out.dtype)));
  } else {
    GE_TRY(check_same_dtype(in, "in", out, "out"));
    const bool ordered = kind == ReduceKind::kMax || kind == ReduceKind::kMin;
    if (is_bool(in.dtype) && !ordered) return refuse("bool has max and min only");
  }
  return check_writable(out, "out");
}

namespace {

// in's axes split into the reduced ones: their dims and strides, in order.
struct ReducedAxes {
  int rank = 0;
  int64_t dims[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  int64_t count = 1;
};

ReducedAxes reduced_axes(const ReduceArgs& args) {
  ReducedAxes r;
  for (int i = 0; i < args.in.rank; ++i) {
    if (((args.axes >> i) & 1) == 0) continue;
    r.dims[r.rank] = args.in.dims[i];
    r.strides[r.rank++] = args.in.strides[i];
    r.count *= args.in.dims[i];
  }
  return r;
}

bool less_than(DType, double a, double b) {
  return a < b;
}
bool less_than(DType dtype, int64_t a, int64_t b) {
  return less_as(dtype, a, b);
}
bool is_nan(double a) {
  return std::isnan(a);
}
bool is_nan(int64_t) {
  return false;
}
double add(double a, double b) {
  return a + b;
}
int64_t add(int64_t a, int64_t b) {
  return wrapping_add(a, b);
}
double multiply(double a, double b) {
  return a * b;
}
int64_t multiply(int64_t a, int64_t b) {
  return wrapping_mul(a, b);
}

double mean_of(DType, double sum, int64_t count) {
  return sum / static_cast<double>(count);
}
int64_t mean_of(DType dtype, int64_t sum, int64_t count) {
  if (count == 0) return 0;
  if (dtype == DType::uint64)
    return static_cast<int64_t>(static_cast<uint64_t>(sum) / static_cast<uint64_t>(count));
  return sum / count;
}

// The value that max (or min) starts from.
double extreme(DType, bool max, double) {
  const double infinity = std::numeric_limits<double>::infinity();
  return max ? -infinity : infinity;
}
int64_t extreme(DType dtype, bool max, int64_t) {
  const int bits = is_bool(dtype) ? 1 : bits_of(dtype);
  if (class_of(dtype) != DTypeClass::kSigned) {
    if (max) return 0;
    return static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
  }
  const int64_t lowest = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return max ? lowest : ~lowest;
}

template <class T>
T fold_ordered(const TensorView& in, const ReducedAxes& r, int64_t base, bool max) {
  T best = extreme(in.dtype, max, T{});
  StridedWalk<1> walk(r.dims, r.rank, {r.strides}, 0);
  for (int64_t i = 0; i < r.count; ++i, walk.next()) {
    const T x = load<T>(in, base + walk.offset(0));
    if (is_nan(x)) return x;
    if (max ? less_than(in.dtype, best, x) : less_than(in.dtype, x, best)) best = x;
  }
  return best;
}

template <class T>
int64_t fold_position(const TensorView& in, const ReducedAxes& r, int64_t base, bool max, bool last) {
  T best{};
  int64_t position = 0;
  StridedWalk<1> walk(r.dims, r.rank, {r.strides}, 0);
  for (int64_t i = 0; i < r.count; ++i, walk.next()) {
    const T x = load<T>(in, base + walk.offset(0));
    if (is_nan(x)) return i;
    const bool better = max ? less_than(in.dtype, best, x) : less_than(in.dtype, x, best);
    if (i == 0 || better || (last && x == best)) {
      best = x;
      position = i;
    }
  }
  return position;
}

template <class T>
T fold_sum(const TensorView& in, const ReducedAxes& r, int64_t base) {
  T sum{};
  StridedWalk<1> walk(r.dims, r.rank, {r.strides}, 0);
  for (int64_t i = 0; i < r.count; ++i, walk.next()) sum = add(sum, load<T>(in, base + walk.offset(0)));
  return sum;
}

template <class T>
T fold_product(const TensorView& in, const ReducedAxes& r, int64_t base) {
  T product{1};
  StridedWalk<1> walk(r.dims, r.rank, {r.strides}, 0);
  for (int64_t i = 0; i < r.count; ++i, walk.next())
    product = multiply(product, load<T>(in, base + walk.offset(0)));
  return product;
}

template <class T>
void reduce_one(const ReduceArgs& args, const ReducedAxes& r, int64_t in_base, int64_t out_offset) {
  switch (static_cast<ReduceKind>(args.kind)) {
    case ReduceKind::kSum:
      return store(args.out, out_offset, fold_sum<T>(args.in, r, in_base));
    case ReduceKind::kProd:
      return store(args.out, out_offset, fold_product<T>(args.in, r, in_base));
    case ReduceKind::kMax:
      return store(args.out, out_offset, fold_ordered<T>(args.in, r, in_base, true));
    case ReduceKind::kMin:
      return store(args.out, out_offset, fold_ordered<T>(args.in, r, in_base, false));
    case ReduceKind::kMean:
      return store(args.out, out_offset, mean_of(args.in.dtype, fold_sum<T>(args.in, r, in_base), r.count));
    case ReduceKind::kArgMax:
    case ReduceKind::kArgMin: {
      const bool max = args.kind == static_cast<int64_t>(ReduceKind::kArgMax);
      return store(args.out, out_offset, fold_position<T>(args.in, r, in_base, max, args.select_last != 0));
    }
  }
}

template <class T>
void reduce_range(const ReduceArgs& args, const ReducedAxes& r, int64_t begin, int64_t end) {
  // On the reduced axes out's extent is 1, so walking out's dims with in's strides gives each fold's first
  // element.
  StridedWalk<2> walk(args.out.dims, args.out.rank, {args.in.strides, args.out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) reduce_one<T>(args, r, walk.offset(0), walk.offset(1));
}

}  // namespace

extern constinit const KernelRow reduce_reference_row = {
    .name = "reduce_reference",
    .operands = kReduceOperands,
    .attrs = kReduceAttrs,
    .args_size = sizeof(ReduceArgs),
    .args = kReduceArgs,
    .check = check_reduce,
    .efficiency = kReferenceEfficiency,
    .summary = "sum, prod, max, min, mean, argmax, argmin over any axes",
};

void reduce_reference(const void* raw, const LaunchContext& context) {
  const ReduceArgs& args = *static_cast<const ReduceArgs*>(raw);
  const ReducedAxes r = reduced_axes(args);
  context.parallel_for(element_count(args.out), grain_for(r.count), [&](int64_t begin, int64_t end) {
    is_float(args.in.dtype) ? reduce_range<double>(args, r, begin, end)
                            : reduce_range<int64_t>(args, r, begin, end);
  });
}

}  // namespace ge::kernels
