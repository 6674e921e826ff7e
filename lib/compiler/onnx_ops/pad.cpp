// Pad: constant mode is core pad; edge, reflect and wrap join slices; negative amounts cut.
#include <algorithm>
#include <limits>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

struct Amounts {
  std::vector<int64_t> low, high;  // per axis
};

std::optional<Amounts> read_amounts(OpContext& c) {
  const int64_t rank = c.rank(c.in(0));
  const auto pads = c.integers(1);
  if (!pads) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  if (c.has(3)) {
    const auto given = c.integers(3);
    if (!given) return std::nullopt;
    c.normalized_axes(*given, rank, c.in(0), c.pointer("/inputs/3"));
    if (c.failed()) return std::nullopt;
    axes = *given;
  }
  if (pads->size() != 2 * axes.size()) {
    c.fail(c.about_input(1, Code::shape_mismatch, "'pads' must have two numbers per axis")
               .because("found " + std::to_string(pads->size()) + " for " + std::to_string(axes.size()) +
                        " axes of " + c.describe(c.in(0))));
    return std::nullopt;
  }
  Amounts amounts{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    amounts.low[axis] = (*pads)[i];
    amounts.high[axis] = (*pads)[i + axes.size()];
  }
  return amounts;
}

// How much a negative amount cuts away; -2^63 cuts more than any tensor has, as 2^63 - 1 does.
int64_t cut_of(int64_t amount) {
  return amount >= 0 ? 0 : -std::max(amount, -std::numeric_limits<int64_t>::max());
}

// Negative amounts as a slice; afterwards all are >= 0.
ValueId cut(OpContext& c, ValueId x, Amounts& a) {
  for (int64_t axis = 0; axis < c.rank(x) && !c.failed(); ++axis) {
    const int64_t low = cut_of(a.low[axis]), high = cut_of(a.high[axis]);
    a.low[axis] = std::max<int64_t>(a.low[axis], 0);
    a.high[axis] = std::max<int64_t>(a.high[axis], 0);
    if (low == 0 && high == 0) continue;
    const Dim extent = c.dims(x)[axis] - Dim(low) - Dim(high);
    if (extent.bounds(c.graph().symbols).max < 0) {
      return c.fail(c.about_input(1, Code::bad_dim, "more is cut than there is")
                        .because("axis " + std::to_string(axis) + " of " + c.describe(c.in(0))));
    }
    x = c.slice_axis(x, axis, Dim(low), extent);
  }
  return x;
}

ValueId pad_constant(OpContext& c, ValueId x, const Amounts& a) {
  if (c.failed()) return kNone;
  Builder& b = c.build();
  if (is_bool(c.dtype(x))) {  // through uint8: core pad fills numbers
    std::vector<ValueId> operands = {b.cast(x, DType::uint8)};
    if (c.has(2)) operands.push_back(b.cast(b.reshape(c.in(2), {}), DType::uint8));
    return b.cast(b.op(Op::pad, std::move(operands), {{"low", a.low}, {"high", a.high}}), DType::boolean);
  }
  std::vector<ValueId> operands = {x};
  if (c.has(2)) operands.push_back(b.reshape(c.in(2), {}));
  return b.op(Op::pad, std::move(operands), {{"low", a.low}, {"high", a.high}});
}

// `amount` elements beside the start (or end) of an axis.
ValueId border(OpContext& c, ValueId x, int64_t axis, int64_t amount, bool at_start,
               const std::string& mode) {
  const Dim extent = c.dims(x)[axis];
  if (mode == "edge") {
    Dims shape = c.dims(x);
    shape[axis] = Dim(amount);
    return c.build().broadcast(c.slice_axis(x, axis, at_start ? Dim(0) : extent - Dim(1), Dim(1)), shape);
  }
  if (mode == "reflect")
    return c.slice_axis(x, axis, at_start ? Dim(amount) : extent - Dim(2), Dim(amount), -1);
  return c.slice_axis(x, axis, at_start ? extent - Dim(amount) : Dim(0), Dim(amount));  // wrap
}

// True where the axis holds what slices copy from it: amount + 1 elements for reflect, amount for wrap; for
// edge 1, where a dim that turns out to be 0 leaves no element to read and is refused at bind.
bool holds(OpContext& c, ValueId x, int64_t axis, int64_t amount, const std::string& mode) {
  const SymbolRange range = c.dims(x)[axis].bounds(c.graph().symbols);
  if (mode == "edge") return range.max >= 1;
  return mode == "reflect" ? range.min > amount : range.min >= amount;
}

// Where a pad is larger than the dim, or may be: a gather that runs through the axis again and again, from
// end to end and back (reflect) or always from the start (wrap).
ValueId pad_by_index(OpContext& c, ValueId x, int64_t axis, int64_t low, int64_t high,
                     const std::string& mode) {
  const Dim extent = c.dims(x)[axis];
  if (extent.bounds(c.graph().symbols).max < 1) {
    return c.fail(c.about_input(1, Code::shape_mismatch, "an empty axis has nothing to copy")
                      .because("axis " + std::to_string(axis) + " of " + c.describe(x) + ", mode " + mode));
  }
  c.require_at_least(extent, Dim(1), "an empty axis has nothing to copy");
  Builder& b = c.build();
  const auto number = [&](int64_t v) { return b.scalar(DType::int64, static_cast<double>(v)); };
  const ValueId at =
      b.op(Op::iota, {},
           {{"shape", Dims{extent + Dim(low) + Dim(high)}}, {"axis", int64_t{0}}, {"dtype", DType::int64}});
  const ValueId from = b.map(Op::sub, {at, b.dims({Dim(low)}, true)});
  ValueId index = kNone;
  if (mode == "wrap") {
    index = b.map(Op::mod, {from, b.dims({extent}, true)});
  } else {
    const ValueId period = b.map(Op::max, {b.dims({(extent - Dim(1)) * Dim(2)}, true), number(1)});
    const ValueId place = b.map(Op::mod, {from, period});
    index = b.map(Op::min, {place, b.map(Op::sub, {period, place})});
  }
  return b.op(Op::gather, {x, index}, {{"axis", axis}});
}

ValueId pad_copy(OpContext& c, ValueId x, const Amounts& a, const std::string& mode) {
  for (int64_t axis = 0; axis < c.rank(x) && !c.failed(); ++axis) {
    std::vector<ValueId> parts;
    const int64_t most = std::max(a.low[axis], a.high[axis]);
    if (most > 0 && !holds(c, x, axis, most, mode)) {
      x = pad_by_index(c, x, axis, a.low[axis], a.high[axis], mode);
      continue;
    }
    if (a.low[axis] > 0) parts.push_back(border(c, x, axis, a.low[axis], true, mode));
    parts.push_back(x);
    if (a.high[axis] > 0) parts.push_back(border(c, x, axis, a.high[axis], false, mode));
    x = c.concat(std::move(parts), axis);
  }
  return x;
}

}  // namespace

Results lower_pad(OpContext& c) {
  const std::string mode = c.string_attr("mode");
  auto amounts = read_amounts(c);
  if (!amounts) return kNone;
  const ValueId x = cut(c, c.in(0), *amounts);
  return mode == "constant" ? pad_constant(c, x, *amounts) : pad_copy(c, x, *amounts, mode);
}

}  // namespace ge
