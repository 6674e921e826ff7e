// Reduce*: axes from an attribute or an input; composite ones in a type wide enough for squares and sums.
#include <numeric>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

struct Axes {
  std::vector<int64_t> axes;
  bool keepdims = true;
};

std::vector<int64_t> all_axes(int64_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// No axes means all, unless noop_with_empty_axes: then none.
Axes reduced_axes(OpContext& c) {
  Axes result{{}, c.int_attr("keepdims") != 0};
  const bool by_input = c.op().attribute("axes") == nullptr;
  std::vector<int64_t> axes;
  if (!by_input) {
    axes = c.ints_attr("axes");
  } else if (c.has(1)) {
    axes = c.integers(1).value_or(std::vector<int64_t>{});
  }
  const int64_t rank = c.rank(c.in(0));
  if (axes.empty()) {
    if (!(by_input && c.int_attr("noop_with_empty_axes") != 0)) result.axes = all_axes(rank);
    return result;
  }
  result.axes =
      c.normalized_axes(axes, rank, c.in(0), c.pointer(by_input ? "/inputs/1" : "/attributes/axes"));
  return result;
}

ValueId reduce(OpContext& c, ValueId x, std::string_view kind, const Axes& a) {
  if (c.failed() || a.axes.empty()) return x;
  return c.build().reduce(x, kind, a.axes, a.keepdims);
}

Results simple(OpContext& c, std::string_view kind) {
  const Axes axes = reduced_axes(c);
  return reduce(c, c.in(0), kind, axes);
}

// x in a floating point type: integers as float64, 16-bit floats as float32.
ValueId real(OpContext& c, ValueId x) {
  return is_float(c.dtype(x)) ? c.wide(x) : c.build().cast(x, DType::float64);
}

// Maximum and minimum of booleans are or and and.
Results extreme(OpContext& c, std::string_view kind) {
  if (!is_bool(c.dtype(c.in(0)))) return simple(c, kind);
  Builder& b = c.build();
  const Axes axes = reduced_axes(c);
  return b.cast(reduce(c, b.cast(c.in(0), DType::uint8), kind, axes), DType::boolean);
}

}  // namespace

Results lower_reduce_sum(OpContext& c) {
  return simple(c, "sum");
}
Results lower_reduce_prod(OpContext& c) {
  return simple(c, "prod");
}
Results lower_reduce_mean(OpContext& c) {
  return simple(c, "mean");
}
Results lower_reduce_max(OpContext& c) {
  return extreme(c, "max");
}
Results lower_reduce_min(OpContext& c) {
  return extreme(c, "min");
}

Results lower_reduce_l1(OpContext& c) {
  const Axes axes = reduced_axes(c);
  return reduce(c, c.build().map(Op::abs, {c.in(0)}), "sum", axes);
}

Results lower_reduce_sum_square(OpContext& c) {
  const Axes axes = reduced_axes(c);
  const ValueId x = c.wide(c.in(0));
  return c.build().cast(reduce(c, c.build().map(Op::mul, {x, x}), "sum", axes), c.dtype(c.in(0)));
}

Results lower_reduce_l2(OpContext& c) {
  const Axes axes = reduced_axes(c);
  const ValueId x = real(c, c.in(0));
  const ValueId sum = reduce(c, c.build().map(Op::mul, {x, x}), "sum", axes);
  return c.build().cast(c.build().map(Op::sqrt, {sum}), c.dtype(c.in(0)));
}

Results lower_reduce_log_sum(OpContext& c) {
  const Axes axes = reduced_axes(c);
  const ValueId sum = reduce(c, real(c, c.in(0)), "sum", axes);
  return c.build().cast(c.build().map(Op::log, {sum}), c.dtype(c.in(0)));
}

// log(sum(exp(x - m))) + m with m the maximum, or 0 where that is infinite: inf - inf would be NaN.
Results lower_reduce_log_sum_exp(OpContext& c) {
  Builder& b = c.build();
  const Axes axes = reduced_axes(c);
  const ValueId x = real(c, c.in(0));
  const ValueId top = reduce(c, x, "max", {axes.axes, true});
  const ValueId shift = b.map(Op::select, {b.map(Op::is_inf, {top}), c.scalar_like(top, 0), top});
  const ValueId sum = reduce(c, b.map(Op::exp, {b.map(Op::sub, {x, shift})}), "sum", {axes.axes, true});
  const ValueId kept = b.map(Op::add, {b.map(Op::log, {sum}), shift});
  if (axes.keepdims || axes.axes.empty() || c.failed()) return b.cast(kept, c.dtype(c.in(0)));
  Dims shape;
  for (int64_t i = 0; i < c.rank(x); ++i) {
    if (std::find(axes.axes.begin(), axes.axes.end(), i) == axes.axes.end()) shape.push_back(c.dims(x)[i]);
  }
  return b.cast(b.reshape(kept, shape), c.dtype(c.in(0)));
}

}  // namespace ge
