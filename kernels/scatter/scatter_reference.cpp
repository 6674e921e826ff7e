// scatter_reference: data copied, then columns of updates on all threads; within a column one after the
// other. Entry: scatter_reference.
#include <algorithm>
#include <cstring>

#include "kernels/common/element.h"
#include "kernels/common/resolve_index.h"
#include "kernels/common/strided_walk.h"
#include "kernels/scatter/scatter_row.h"

namespace ge::kernels {

Status check_scatter(const LaunchShape& shape) {
  const TensorView &data = shape.operands[0], &indices = shape.operands[1], &updates = shape.operands[2],
                   &out = shape.operands[3];
  const int64_t axis = attr_int(shape.attrs, "axis", 0);
  GE_TRY(check_axis(axis, data.rank));
  GE_TRY(check_same_dtype(data, "data", out, "out"));
  GE_TRY(check_same_dtype(data, "data", updates, "updates"));
  GE_TRY(check_same_dims(data, "data", out, "out"));
  GE_TRY(check_writable(out, "out"));
  if (attr_int(shape.attrs, "elements", 0) != 0) {
    GE_TRY(check_same_dims(indices, "indices", updates, "updates"));
    return check_within(indices, "indices", data, "data", static_cast<int>(axis));
  }
  if (updates.rank != data.rank - 1 + indices.rank) {
    return refuse("updates has rank " + std::to_string(updates.rank) + ", expected " +
                  std::to_string(data.rank - 1 + indices.rank));
  }
  for (int i = 0; i < updates.rank; ++i) {
    const int64_t q = i - axis;
    const int64_t expected = q < 0              ? data.dims[i]
                             : q < indices.rank ? indices.dims[q]
                                                : data.dims[i - indices.rank + 1];
    GE_TRY(check_dim(updates.dims[i], expected, "updates' axis " + std::to_string(i)));
  }
  return {};
}

namespace {

// Axes with a stride for each operand that is walked along them.
struct Axes {
  int rank = 0;
  int64_t dims[kMaxRank] = {}, updates[kMaxRank] = {}, indices[kMaxRank] = {}, out[kMaxRank] = {};
  void add(int64_t dim, int64_t update_stride, int64_t index_stride, int64_t out_stride) {
    dims[rank] = dim;
    updates[rank] = update_stride;
    indices[rank] = index_stride;
    out[rank++] = out_stride;
  }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
};

// The axes of updates: `columns` stand for an axis of out each, `steps` are those that the index replaces.
struct Split {
  Axes columns, steps;
  explicit Split(const ScatterArgs& a) {
    const int wide = a.elements != 0 ? 1 : a.indices.rank;  // axes in place of data's `axis`
    for (int i = 0; i < a.updates.rank; ++i) {
      const int64_t dim = a.updates.dims[i], stride = a.updates.strides[i];
      const bool step = i >= a.axis && i < a.axis + wide;
      const int64_t to = i < a.axis ? i : i - wide + 1;
      const int64_t index = a.elements != 0 ? a.indices.strides[i] : step ? a.indices.strides[i - a.axis] : 0;
      step ? steps.add(dim, stride, index, 0) : columns.add(dim, stride, index, a.out.strides[to]);
    }
  }
};

template <class T>
T combined(ScatterKind kind, DType dtype, T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    if (kind == ScatterKind::kAdd) return a + b;
    if (kind == ScatterKind::kMul) return a * b;
    if (a != a || b != b) return a != a ? a : b;
    return (kind == ScatterKind::kMax) == (a < b) ? b : a;
  } else {
    if (kind == ScatterKind::kAdd) return wrapping_add(a, b);
    if (kind == ScatterKind::kMul) return wrapping_mul(a, b);
    return (kind == ScatterKind::kMax) == less_as(dtype, a, b) ? b : a;
  }
}

void apply(const ScatterArgs& a, int64_t from, int64_t to) {
  const auto kind = static_cast<ScatterKind>(a.kind);
  if (kind == ScatterKind::kNone) {
    const auto size = static_cast<size_t>(bits_of(a.out.dtype) / 8);
    std::memcpy(static_cast<char*>(a.out.data) + to * static_cast<int64_t>(size),
                static_cast<const char*>(a.updates.data) + from * static_cast<int64_t>(size), size);
  } else if (is_float(a.out.dtype)) {
    store(a.out, to, combined(kind, a.out.dtype, load<double>(a.out, to), load<double>(a.updates, from)));
  } else {
    store(a.out, to, combined(kind, a.out.dtype, load<int64_t>(a.out, to), load<int64_t>(a.updates, from)));
  }
}

void copy_data(const ScatterArgs& a, int64_t begin, int64_t end) {
  const int64_t size = bits_of(a.out.dtype) / 8;
  char* to = static_cast<char*>(a.out.data);
  const char* from = static_cast<const char*>(a.data.data);
  if (is_contiguous(a.data) && is_contiguous(a.out)) {
    std::memcpy(to + begin * size, from + begin * size, static_cast<size_t>((end - begin) * size));
    return;
  }
  StridedWalk<2> walk(a.out.dims, a.out.rank, {a.data.strides, a.out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next())
    std::memcpy(to + walk.offset(1) * size, from + walk.offset(0) * size, static_cast<size_t>(size));
}

void scatter_columns(const ScatterArgs& a, const Split& split, const LaunchContext& context, int64_t begin,
                     int64_t end) {
  const Axes &columns = split.columns, &steps = split.steps;
  const int64_t extent = a.out.dims[a.axis], stride = a.out.strides[a.axis];
  const int64_t count = steps.count();
  StridedWalk<2> step(steps.dims, steps.rank, {steps.updates, steps.indices}, 0);
  for (int64_t j = 0; j < count; ++j, step.next()) {
    StridedWalk<3> column(columns.dims, columns.rank, {columns.updates, columns.indices, columns.out}, begin);
    int64_t position = -1;
    for (int64_t i = begin; i < end; ++i, column.next()) {
      if (a.elements != 0 || i == begin)
        position =
            resolve_index(load<int64_t>(a.indices, step.offset(1) + column.offset(1)), extent, context);
      if (position >= 0) apply(a, step.offset(0) + column.offset(0), column.offset(2) + position * stride);
    }
  }
}

constexpr ArgRow kArgs[] = {
    view_arg(offsetof(ScatterArgs, data), 0),     view_arg(offsetof(ScatterArgs, indices), 1),
    view_arg(offsetof(ScatterArgs, updates), 2),  view_arg(offsetof(ScatterArgs, out), 3),
    int_arg(offsetof(ScatterArgs, axis), "axis"), int_arg(offsetof(ScatterArgs, elements), "elements"),
    int_arg(offsetof(ScatterArgs, kind), "kind"),
};

}  // namespace

extern constinit const KernelRow scatter_reference_row = {
    .name = "scatter_reference",
    .operands = kScatterOperands,
    .attrs = kScatterAttrs,
    .args_size = sizeof(ScatterArgs),
    .args = kArgs,
    .check = check_scatter,
    .summary = "updates put in by index, in row-major order",
};

void scatter_reference(const void* raw, const LaunchContext& context) {
  const ScatterArgs& args = *static_cast<const ScatterArgs*>(raw);
  context.parallel_for(element_count(args.out), kReferenceGrain,
                       [&](int64_t begin, int64_t end) { copy_data(args, begin, end); });
  const Split split(args);
  if (split.steps.count() == 0) return;
  context.parallel_for(
      split.columns.count(), grain_for(split.steps.count()),
      [&](int64_t begin, int64_t end) { scatter_columns(args, split, context, begin, end); });
}

}  // namespace ge::kernels
