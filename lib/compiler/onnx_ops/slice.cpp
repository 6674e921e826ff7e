// Slice and Split: parts along axes, with bounds that may be symbolic.
#include <algorithm>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// Bounds from here on mean "to the end" whatever the dim: exporters write INT64_MAX.
constexpr int64_t kHuge = INT64_MAX / 2;

// min and max where the ranges of the symbols decide it; else the opaque expression.
Dim least(OpContext& c, const Dim& a, const Dim& b) {
  if ((b - a).bounds(c.graph().symbols).min >= 0) return a;
  if ((a - b).bounds(c.graph().symbols).min >= 0) return b;
  return Dim::min(a, b);
}
Dim greatest(OpContext& c, const Dim& a, const Dim& b) {
  if ((b - a).bounds(c.graph().symbols).min >= 0) return b;
  if ((a - b).bounds(c.graph().symbols).min >= 0) return a;
  return Dim::max(a, b);
}

// A bound as ONNX reads it: negative counts from the end. nullopt where its sign is not known.
std::optional<Dim> from_front(OpContext& c, const Dim& bound, const Dim& extent) {
  if (bound.is_static() && *bound.value() >= kHuge) return extent;
  if (bound.is_static() && *bound.value() <= -kHuge) return Dim(-1) - extent;  // before every element
  const SymbolRange range = bound.bounds(c.graph().symbols);
  if (range.min >= 0) return bound;
  if (range.max < 0 || (extent - bound).is_static()) return bound + extent;
  return std::nullopt;
}

// Larger steps take one element, as this one does: no axis of a tensor that fits into memory is longer. The
// stride of such a step is a number of 64 bits.
constexpr int64_t kLongestAxis = int64_t{1} << 40;

struct Part {
  Dim start, extent;
};

// start and end are clamped to [0, extent]. The length does not need start's upper clamp: past the end it is
// 0 anyway.
Part forward_part(OpContext& c, const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
  const Dim from = greatest(c, start, Dim(0)), to = least(c, greatest(c, end, Dim(0)), extent);
  const Dim count = Dim::ceil_div(greatest(c, to - from, Dim(0)), Dim(step));
  return {count.is_value(0) ? Dim(0) : least(c, from, extent), count};
}

// start is clamped to [0, extent - 1], end to [-1, extent - 1].
Part backward_part(OpContext& c, const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
  const Dim last = extent - Dim(1);
  const Dim from = start == last ? last : least(c, greatest(c, start, Dim(0)), last);
  const Dim to = least(c, greatest(c, end, Dim(-1)), last);
  const Dim count = Dim::ceil_div(greatest(c, from - to, Dim(0)), Dim(-step));
  return {count.is_value(0) ? Dim(0) : from, count};
}

std::optional<Part> part_of(OpContext& c, const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
  const auto from = from_front(c, start, extent), to = from_front(c, end, extent);
  if (!from || !to) return std::nullopt;
  return step > 0 ? forward_part(c, *from, *to, step, extent) : backward_part(c, *from, *to, step, extent);
}

struct SliceInputs {
  Dims starts, ends;
  std::vector<int64_t> axes, steps;
};

std::optional<SliceInputs> read_inputs(OpContext& c) {
  SliceInputs in;
  const auto starts = c.contents(1);
  const auto ends = c.failed() ? std::nullopt : c.contents(2);
  if (!starts || !ends) return std::nullopt;
  const auto count = static_cast<int64_t>(starts->size());
  for (int64_t i = 0; i < count; ++i) in.axes.push_back(i);
  in.steps.assign(starts->size(), 1);
  if (c.has(3)) {
    const auto axes = c.integers(3);
    if (!axes) return std::nullopt;
    in.axes = *axes;
  }
  if (c.has(4)) {
    const auto steps = c.integers(4);
    if (!steps) return std::nullopt;
    in.steps = *steps;
  }
  in.starts = *starts;
  in.ends = *ends;
  if (in.ends.size() != in.starts.size() || in.axes.size() != in.starts.size() ||
      in.steps.size() != in.starts.size()) {
    c.fail(c.about_node(Code::shape_mismatch, "starts, ends, axes and steps must have one length")
               .because("found " + std::to_string(in.starts.size()) + ", " + std::to_string(in.ends.size()) +
                        ", " + std::to_string(in.axes.size()) + " and " + std::to_string(in.steps.size())));
    return std::nullopt;
  }
  c.normalized_axes(in.axes, c.rank(c.in(0)), c.in(0), c.pointer(c.has(3) ? "/inputs/3" : "/inputs/1"));
  if (c.failed()) return std::nullopt;
  return in;
}

}  // namespace

Results lower_slice(OpContext& c) {
  const auto in = read_inputs(c);
  if (!in) return kNone;
  const ValueId x = c.in(0);
  Dims starts(c.dims(x).size(), Dim(0)), shape = c.dims(x);
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t i = 0; i < in->axes.size(); ++i) {
    const auto axis = static_cast<size_t>(in->axes[i] < 0 ? in->axes[i] + c.rank(x) : in->axes[i]);
    const int64_t step = std::clamp(in->steps[i], -kLongestAxis, kLongestAxis);
    if (step == 0)
      return c.fail(
          c.about_input(4, Code::bad_attribute, "a step is 0").because("allowed: any number but 0"));
    const auto part = part_of(c, in->starts[i], in->ends[i], step, shape[axis]);
    if (!part) {
      return c.fail(
          c.about_node(Code::needs_constant, "a bound may be negative or not, depending on a symbolic dim")
              .because(in->starts[i].to_string() + " .. " + in->ends[i].to_string() + " of " + c.describe(x))
              .try_("bound the dim with --dim NAME=MIN:MAX"));
    }
    starts[axis] = part->start;
    steps[axis] = part->extent.bounds(c.graph().symbols).max <= 1 ? 1 : step;
    shape[axis] = part->extent;
  }
  return c.slice(x, starts, steps, shape);
}

namespace {

// Sizes where only a count is given: ceil(extent / count) each, the last gets the rest.
Dims even_sizes(const Dim& extent, int64_t count) {
  const Dim chunk = Dim::ceil_div(extent, Dim(count));
  Dims sizes(count, chunk);
  sizes.back() = extent - chunk * Dim(count - 1);
  return sizes;
}

// The last part has a size of 0 or more: a fault where no value of the dims gives it one; where they decide,
// an assertion at bind, before a size comes out negative: max(last, 0) == last.
void check_last(OpContext& c, const Dims& sizes, const Dim& extent) {
  const Dim& last = sizes.back();
  const std::string too_small = extent.to_string() + " is too small for " + std::to_string(sizes.size()) +
                                " parts of one size and a last that is no larger";
  if (last.bounds(c.graph().symbols).max >= 0) return c.require_at_least(last, Dim(0), too_small);
  const std::string found = "the first " + std::to_string(sizes.size() - 1) + " parts of " +
                            sizes.front().to_string() + " (the dim through their number, rounded up) " +
                            "take more than there is";
  const bool counted = c.op().attribute("num_outputs") && c.has_attr("num_outputs");
  c.fail((counted ? c.about_attr("num_outputs", Code::shape_mismatch, too_small)
                  : c.about_node(Code::shape_mismatch, too_small))
             .because(c.describe(c.in(0)) + ": " + found)
             .try_("give the sizes as input 'split', or fewer outputs"));
}

std::optional<Dims> split_sizes(OpContext& c, const Dim& extent) {
  const auto outputs = static_cast<int64_t>(c.output_count());
  if (c.has(1)) {
    if (c.op().attribute("num_outputs") && c.has_attr("num_outputs")) {
      c.fail(c.about_attr("num_outputs", Code::bad_attribute, "'split' and num_outputs exclude each other")
                 .try_("remove one of them"));
      return std::nullopt;
    }
    return c.contents(1);
  }
  if (c.op().attribute("num_outputs") && c.has_attr("num_outputs") && c.int_attr("num_outputs") != outputs) {
    c.fail(c.about_attr("num_outputs", Code::bad_attribute, "num_outputs is not the number of outputs")
               .because("found " + std::to_string(c.int_attr("num_outputs")) + " for " +
                        std::to_string(outputs) + " outputs"));
    return std::nullopt;
  }
  Dims sizes = even_sizes(extent, outputs);
  check_last(c, sizes, extent);
  if (c.failed()) return std::nullopt;
  return sizes;
}

bool check_sizes(OpContext& c, const Dims& sizes, const Dim& extent) {
  if (sizes.size() != c.output_count()) {
    c.fail(
        c.about_input(1, Code::operand_count, "'split' must have one size per output")
            .because("found " + to_string(sizes) + " for " + std::to_string(c.output_count()) + " outputs"));
    return false;
  }
  Dim sum(0);
  for (const Dim& size : sizes) {
    if (size.is_static() && *size.value() < 0) {
      c.fail(c.about_node(Code::bad_dim, "a part would be negative")
                 .because("sizes " + to_string(sizes) + " of " + extent.to_string()));
      return false;
    }
    sum = sum + size;
  }
  c.require_equal(sum, extent, "the sizes do not add up to the dim");
  return !c.failed();
}

}  // namespace

Results lower_split(OpContext& c) {
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  if (c.failed()) return kNone;
  const Dim extent = c.dims(x)[axis];
  const auto sizes = split_sizes(c, extent);
  if (!sizes || !check_sizes(c, *sizes, extent)) return kNone;
  std::vector<ValueId> parts;
  Dim start(0);
  for (const Dim& size : *sizes) {
    parts.push_back(c.slice_axis(x, axis, size.is_value(0) ? Dim(0) : start, size));
    start = start + size;
  }
  return parts;
}

}  // namespace ge
