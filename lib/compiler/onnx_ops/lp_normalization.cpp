// LpNormalization, MeanVarianceNormalization and LRN: reductions or windows over chosen axes, in float32 or
// wider, rounded once.
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// x / norm, 0 where the norm is 0.
Results lower_lp_normalization(OpContext& c) {
  Builder& b = c.build();
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)), c.in(0)), p = c.int_attr("p");
  if (p != 1 && p != 2) {
    c.fail(c.about_attr("p", Code::bad_attribute, "p is not valid")
               .because("found " + std::to_string(p) + ", allowed 1, 2"));
  }
  if (c.failed()) return kNone;
  const ValueId x = c.wide(c.in(0));
  const ValueId sum = b.reduce(p == 1 ? b.map(Op::abs, {x}) : b.map(Op::mul, {x, x}), "sum", {axis}, true);
  const ValueId norm = p == 1 ? sum : b.map(Op::sqrt, {sum});
  const ValueId zero = c.scalar_like(x, 0);
  const ValueId y = b.map(Op::select, {b.map(Op::equal, {norm, zero}), zero, b.map(Op::div, {x, norm})});
  return b.cast(y, c.dtype(c.in(0)));
}

// (x - mean) / (sqrt(variance) + 1e-9), as ONNX's function body has it, but with the variance as the mean of
// squared differences: E[x^2] - E[x]^2 loses all digits where the mean is large.
Results lower_mean_variance_normalization(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.wide(c.in(0));
  const std::vector<int64_t> given = c.has_attr("axes") ? c.ints_attr("axes") : std::vector<int64_t>{0, 2, 3};
  std::vector<int64_t> axes = c.normalized_axes(given, c.rank(x), c.in(0), c.pointer("/attributes/axes"));
  if (c.failed()) return kNone;
  for (int64_t i = 0; given.empty() && i < c.rank(x); ++i) axes.push_back(i);  // none means all
  const ValueId centred = b.map(Op::sub, {x, b.reduce(x, "mean", axes, true)});
  const ValueId variance = b.reduce(b.map(Op::mul, {centred, centred}), "mean", axes, true);
  const ValueId deviation = b.map(Op::add, {b.map(Op::sqrt, {variance}), c.scalar_like(x, 1e-9)});
  return b.cast(b.map(Op::div, {centred, deviation}), c.dtype(c.in(0)));
}

// x / (bias + alpha * mean of the `size` squares around a channel, those outside 0) ^ beta.
Results lower_lrn(OpContext& c) {
  Builder& b = c.build();
  const int64_t size = c.int_attr("size");
  if (c.rank(c.in(0)) < 3) {
    return c.fail(c.about_input(0, Code::operand_rank, "'X' must be [N, C, spatial...]")
                      .because("found " + c.describe(c.in(0))));
  }
  if (size < 1 || size > INT32_MAX) {
    return c.fail(c.about_attr("size", Code::bad_attribute, "size is not valid")
                      .because("found " + std::to_string(size) + ", allowed 1 and up"));
  }
  const ValueId x = c.wide(c.in(0));
  const Dims dims = c.dims(x);
  const ValueId squares = b.reshape(b.map(Op::mul, {x, x}), {dims[0], Dim(1), dims[1], product(dims, 2)});
  const std::vector<int64_t> ones = {1, 1};
  const ValueId mean = b.op(Op::pool, {squares},
                            {{"kind", std::string("average")},
                             {"kernel", std::vector<int64_t>{size, 1}},
                             {"strides", ones},
                             {"pads_begin", std::vector<int64_t>{(size - 1) / 2, 0}},
                             {"pads_end", std::vector<int64_t>{size / 2, 0}},
                             {"dilations", ones},
                             {"ceil_mode", int64_t{0}},
                             {"count_include_pad", int64_t{1}}});
  if (c.failed()) return kNone;
  const ValueId base =
      b.map(Op::add, {b.map(Op::mul, {b.reshape(mean, dims), c.scalar_like(x, c.float_attr("alpha"))}),
                      c.scalar_like(x, c.float_attr("bias"))});
  const ValueId power = b.map(Op::pow, {base, c.scalar_like(x, c.float_attr("beta"))});
  return b.cast(b.map(Op::div, {x, power}), c.dtype(c.in(0)));
}

}  // namespace ge
