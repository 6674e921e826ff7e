// MaxPool, AveragePool, LpPool (core pool) and their global forms (core reduce).
#include <algorithm>

#include "compiler/onnx_ops/max_pool_indices.h"

namespace ge {
namespace {

// A window that lies wholly in the padding has no maximum and no mean.
bool check_pads(OpContext& c, const Window& w) {
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    const int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    if (w.pads_begin[i] < extent && w.pads_end[i] < extent) continue;
    c.fail(c.about_attr("pads", Code::bad_attribute, "a pad is as large as its window")
               .because("dim " + std::to_string(i + 2) + ": pads " + std::to_string(w.pads_begin[i]) +
                        " and " + std::to_string(w.pads_end[i]) + ", window " + std::to_string(extent)));
    return false;
  }
  return true;
}

bool rounds_up(OpContext& c) {
  return c.op().attribute("ceil_mode") && c.int_attr("ceil_mode") != 0;
}

ValueId pool(OpContext& c, ValueId x, const Window& w, const std::string& kind, bool count_include_pad) {
  if (c.failed()) return kNone;
  return c.build().op(Op::pool, {x},
                      {{"kind", kind},
                       {"kernel", w.kernel},
                       {"strides", w.strides},
                       {"pads_begin", w.pads_begin},
                       {"pads_end", w.pads_end},
                       {"dilations", w.dilations},
                       {"ceil_mode", static_cast<int64_t>(rounds_up(c))},
                       {"count_include_pad", static_cast<int64_t>(count_include_pad)}});
}

std::optional<Window> pool_window(OpContext& c) {
  Window w = read_window(c);
  if (c.failed() || !check_pads(c, w)) return std::nullopt;
  return w;
}

ValueId global(OpContext& c, ValueId x, std::string_view kind) {
  if (c.failed()) return kNone;
  if (c.rank(x) < 2) {
    return c.fail(c.about_input(0, Code::operand_rank, "'X' must be [N, C, spatial...]")
                      .because("found " + c.describe(c.in(0))));
  }
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < c.rank(x); ++i) axes.push_back(i);
  return axes.empty() ? x : c.build().reduce(x, kind, axes, true);
}

}  // namespace

Results lower_max_pool(OpContext& c) {
  const auto w = pool_window(c);
  if (!w) return kNone;
  if (const int64_t order = c.int_attr("storage_order"); order != 0 && order != 1) {
    return c.fail(c.about_attr("storage_order", Code::bad_attribute, "storage_order is not valid")
                      .because("found " + std::to_string(order) + ", allowed 0, 1"));
  }
  const ValueId values = pool(c, c.in(0), *w, "max", false);
  if (c.failed() || !c.wants(1)) return std::vector<ValueId>{values, kNone};
  return std::vector<ValueId>{values, max_pool_indices(c, *w, c.dims(values))};
}

Results lower_average_pool(OpContext& c) {
  const auto w = pool_window(c);
  if (!w) return kNone;
  return pool(c, c.in(0), *w, "average", c.int_attr("count_include_pad") != 0);
}

Results lower_global_average_pool(OpContext& c) {
  return global(c, c.in(0), "mean");
}
Results lower_global_max_pool(OpContext& c) {
  return global(c, c.in(0), "max");
}

namespace {

// The order of the norm, 1 and up.
double norm_order(OpContext& c) {
  const int64_t p = c.int_attr("p");
  if (p >= 1) return static_cast<double>(p);
  c.fail(c.about_attr("p", Code::bad_attribute, "p is not valid")
             .because("found " + std::to_string(p) + ", allowed 1 and up"));
  return 1;
}

ValueId power(OpContext& c, ValueId x, double p) {
  Builder& b = c.build();
  if (p == 2) return b.map(Op::mul, {x, x});
  const ValueId size = b.map(Op::abs, {x});
  return p == 1 ? size : b.map(Op::pow, {size, c.scalar_like(x, p)});
}

ValueId root(OpContext& c, ValueId x, double p) {
  if (p == 1) return x;
  if (p == 2) return c.build().map(Op::sqrt, {x});
  return c.build().map(Op::pow, {x, c.scalar_like(x, 1 / p)});
}

// By what core pool divided the sum of a window with count_include_pad: the kernel's size, or less where
// ceil_mode lets the last window hang over the padded input.
ValueId window_size(OpContext& c, const Window& w, ValueId mean) {
  Builder& b = c.build();
  double whole = 1;  // three numbers below 2^31 are more than an int64 holds
  for (const int64_t k : w.kernel) whole *= static_cast<double>(k);
  if (!rounds_up(c)) return c.scalar_like(mean, whole);
  const Dims out = c.dims(mean), in = c.dims(c.in(0));
  const auto number = [&](int64_t v) { return b.scalar(DType::int64, static_cast<double>(v)); };
  ValueId size = number(1);
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    Dims along(out.size(), Dim(1));
    along[2 + i] = out[2 + i];
    const auto axis = static_cast<int64_t>(2 + i);
    const ValueId window = b.op(Op::iota, {}, {{"shape", along}, {"axis", axis}, {"dtype", DType::int64}});
    // ceil((in + pads - start) / dilation), at most the kernel
    const Dim room = in[2 + i] + Dim(w.pads_begin[i]) + Dim(w.pads_end[i]) + Dim(w.dilations[i] - 1);
    const ValueId left =
        b.map(Op::sub, {b.dims({room}, true), b.map(Op::mul, {window, number(w.strides[i])})});
    const ValueId steps = b.map(Op::div, {left, number(w.dilations[i])});
    size = b.map(Op::mul, {size, b.map(Op::min, {steps, number(w.kernel[i])})});
  }
  return b.cast(size, c.dtype(mean));
}

}  // namespace

// (sum of |x|^p) ^ (1/p): the mean of a window times its size is its sum.
Results lower_lp_pool(OpContext& c) {
  Builder& b = c.build();
  const auto w = pool_window(c);
  const double p = norm_order(c);
  if (!w || c.failed()) return kNone;
  const ValueId mean = pool(c, power(c, c.wide(c.in(0)), p), *w, "average", true);
  if (c.failed()) return kNone;
  const ValueId sum = b.map(Op::mul, {mean, window_size(c, *w, mean)});
  return b.cast(root(c, sum, p), c.dtype(c.in(0)));
}

Results lower_global_lp_pool(OpContext& c) {
  const double p = norm_order(c);
  if (c.failed()) return kNone;
  const ValueId sum = global(c, power(c, c.wide(c.in(0)), p), "sum");
  return c.build().cast(root(c, sum, p), c.dtype(c.in(0)));
}

}  // namespace ge
