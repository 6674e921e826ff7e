// GridSample: X at the places of a grid, whose coordinates run from -1 to 1 along each axis, the last axis
// first. AffineGrid: such a grid, turned by a matrix.
#include <algorithm>

#include "compiler/onnx_ops/sampling.h"

namespace ge {
namespace {

struct GridRule {
  std::string mode;
  Outside outside = Outside::kZero;
  bool align_corners = false;
};

std::optional<GridRule> read_rule(OpContext& c) {
  GridRule rule;
  rule.mode = c.string_attr("mode");
  if (rule.mode == "bilinear") rule.mode = "linear";
  if (rule.mode == "bicubic") rule.mode = "cubic";
  if (rule.mode != "linear" && rule.mode != "cubic" && rule.mode != "nearest") {
    c.fail(c.about_attr("mode", Code::bad_attribute, "mode is unknown")
               .because("found \"" + c.string_attr("mode") +
                        "\"; allowed: linear, nearest, cubic (bilinear, bicubic)"));
    return std::nullopt;
  }
  const std::string padding = c.string_attr("padding_mode");
  if (padding == "border") {
    rule.outside = Outside::kNearest;
  } else if (padding == "reflection") {
    rule.outside = Outside::kReflected;
  }
  rule.align_corners = c.int_attr("align_corners") != 0;
  return rule;
}

// [N, C, spatial...] and [N, out..., r].
bool check_shapes(OpContext& c) {
  const ValueId x = c.in(0), grid = c.in(1);
  const int64_t rank = c.rank(x);
  const bool fits =
      rank >= 3 && rank <= 5 && c.rank(grid) == rank && !Dim::never_equal(c.dims(grid).back(), rank - 2);
  if (!fits) {
    c.fail(c.about_input(1, Code::operand_rank,
                         "'grid' must be [N, out..., r] beside [N, C, r spatial dims], r of 1 to 3")
               .because("found " + c.describe(grid) + " beside " + c.describe(x)));
    return false;
  }
  c.require_equal(c.dims(grid).back(), rank - 2, "the last dim of 'grid' must be the number of spatial dims");
  c.require_equal(c.dims(grid)[0], c.dims(x)[0], "the batches of 'X' and 'grid' differ");
  for (int64_t i = 2; i < rank; ++i) {
    if (!c.dims(x)[i].is_value(0)) continue;
    c.fail(c.about_input(0, Code::shape_mismatch, "an empty axis cannot be sampled")
               .because("found " + c.describe(x)));
  }
  return !c.failed();
}

// Coordinates in elements: with align_corners -1 and 1 are the middles of the first and last element, else
// their outer edges.
ValueId place_of(OpContext& c, ValueId normalized, const Dim& size, bool align_corners) {
  Builder& b = c.build();
  const ValueId one = c.scalar_like(normalized, 1), half = c.scalar_like(normalized, 0.5);
  const ValueId length = b.cast(c.size_scalar(size), c.dtype(normalized));
  const ValueId from_zero = b.map(Op::add, {normalized, one});
  if (align_corners)
    return b.map(Op::mul, {b.map(Op::mul, {from_zero, half}), b.map(Op::sub, {length, one})});
  return b.map(Op::mul, {b.map(Op::sub, {b.map(Op::mul, {from_zero, length}), one}), half});
}

}  // namespace

Results lower_grid_sample(OpContext& c) {
  Builder& b = c.build();
  const auto rule = read_rule(c);
  if (!rule || !check_shapes(c)) return kNone;
  const ValueId x = c.in(0);
  const DType own = c.dtype(x), grid_type = c.dtype(c.in(1));
  const bool weighs = rule->mode != "nearest";
  if (weighs && is_bool(own)) {
    return c.fail(c.about_attr("mode", Code::bad_attribute, "bools have no values in between")
                      .because("found mode \"" + rule->mode + "\" and " + c.describe(x))
                      .try_("use \"nearest\""));
  }
  const bool wide =
      own == DType::float64 || grid_type == DType::float64 || (!is_float(own) && bits_of(own) > 16);
  const DType type = wide ? DType::float64 : DType::float32;
  const Dims dims = c.dims(x), grid_dims = c.dims(c.in(1));
  const auto r = static_cast<int64_t>(dims.size()) - 2;
  const Dims out(grid_dims.begin() + 1, grid_dims.end() - 1);
  const ValueId grid = b.reshape(b.cast(c.in(1), type), {dims[0], product(out), Dim(r)});
  std::vector<std::vector<Tap>> taps;
  for (int64_t i = 0; i < r && !c.failed(); ++i) {
    const ValueId normalized =
        b.reshape(c.slice_axis(grid, 2, Dim(r - 1 - i), Dim(1)), {dims[0], product(out)});
    const AxisRule axis{dims[i + 2], rule->outside, !rule->align_corners};
    ValueId place = place_of(c, normalized, axis.size, rule->align_corners);
    if (rule->mode == "nearest") place = b.map(Op::round, {place});
    if (rule->mode != "cubic") place = inside(c, place, axis);
    taps.push_back(rule->mode == "linear"  ? linear_taps(c, place, axis)
                   : rule->mode == "cubic" ? cubic_taps(c, place, axis)
                                           : nearest_taps(c, place, axis));
  }
  const ValueId y = sample_points(c, weighs ? b.cast(x, type) : x, taps);
  if (c.failed()) return kNone;
  Dims shape{dims[0], dims[1]};
  shape.insert(shape.end(), out.begin(), out.end());
  return b.reshape(b.cast(y, own), shape);
}

// theta [N, r, r + 1] times each position (x, y, z, 1).
Results lower_affine_grid(OpContext& c) {
  Builder& b = c.build();
  const ValueId theta = c.in(0);
  const auto size = c.contents(1);
  if (!size) return kNone;
  const auto r = static_cast<int64_t>(size->size()) - 2;
  const bool negative =
      std::any_of(size->begin(), size->end(), [](const Dim& d) { return d.value().value_or(0) < 0; });
  if (r < 2 || r > 3 || negative) {
    return c.fail(c.about_input(1, Code::bad_dim, "'size' must be (N, C, H, W) or (N, C, D, H, W)")
                      .because("found " + to_string(*size)));
  }
  if (c.rank(theta) != 3) {
    return c.fail(c.about_input(0, Code::operand_rank, "'theta' must be [N, 2, 3] or [N, 3, 4]")
                      .because("found " + c.describe(theta)));
  }
  c.require_equal(c.dims(theta)[1], Dim(r), "'theta' does not fit 'size'");
  c.require_equal(c.dims(theta)[2], Dim(r + 1), "'theta' does not fit 'size'");
  c.require_equal(c.dims(theta)[0], (*size)[0], "the batch of 'theta' is not that of 'size'");
  if (c.failed()) return kNone;
  const ValueId matrix = c.wide(theta);
  const DType type = c.dtype(matrix);
  const Dims out(size->begin() + 2, size->end());
  Dims column = out;
  column.emplace_back(1);
  std::vector<ValueId> parts;
  for (int64_t i = r; i-- > 0;) {  // the last axis is x
    // (2 i + 1 - n) / n, or (2 i + 1 - n) / (n - 1) where corners are middles; the only element of an axis is
    // at 0
    const Dim n = out[static_cast<size_t>(i)];
    const bool corners = c.int_attr("align_corners") != 0;
    const ValueId doubled = b.map(Op::mul, {c.positions(column, i), c.size_scalar(Dim(2))});
    const ValueId centred = b.map(Op::sub, {doubled, c.size_scalar(n - Dim(1))});
    const ValueId length = b.cast(c.size_scalar(corners ? Dim::max(n - Dim(1), Dim(1)) : n), type);
    parts.push_back(b.map(Op::div, {b.cast(centred, type), length}));
  }
  parts.push_back(b.broadcast(b.scalar(type, 1), column));
  const ValueId base = c.concat(std::move(parts), r);
  if (c.failed()) return kNone;
  const ValueId points = b.reshape(base, {product(out), Dim(r + 1)});
  const ValueId each = b.broadcast(points, {(*size)[0], product(out), Dim(r + 1)});
  const ValueId grid = b.op(Op::dot, {each, b.transpose(matrix, {0, 2, 1})});
  Dims shape{(*size)[0]};
  shape.insert(shape.end(), out.begin(), out.end());
  shape.emplace_back(r);
  return c.failed() ? kNone : b.reshape(b.cast(grid, c.dtype(theta)), shape);
}

}  // namespace ge
