// Tables of one axis of Resize, in core ops, so that a symbolic size needs nothing of its own; for static
// sizes they fold to constants. Then a gather (nearest), or gathers and a weighted sum.
#include "compiler/onnx_ops/resize_axis.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "contract/tensor_view.h"

namespace ge {
namespace {

class Axis {
 public:
  Axis(OpContext& c, const ResizeRule& rule, const ResizeAxis& axis)
      : c_(c), b_(c.build()), rule_(rule), axis_(axis) {}

  ValueId nearest(ValueId x) { return b_.op(Op::gather, {x, nearest_index()}, {{"axis", axis_.axis}}); }

  // Few taps are gathers of their own, which a loop joins; many are one, with a reduction.
  ValueId interpolate(ValueId x) {
    Taps taps = make_taps(c_.dtype(x));
    if (c_.failed()) return kNone;
    if (taps.count > 4 && c_.rank(x) < kMaxRank) {
      const ValueId all = b_.op(Op::gather, {x, taps.index}, {{"axis", axis_.axis}});
      return b_.reduce(b_.map(Op::mul, {all, spread(taps.weight, c_.rank(x) + 1, 2)}), "sum",
                       {axis_.axis + 1}, false);
    }
    ValueId sum = kNone;
    for (int64_t k = 0; k < taps.count; ++k) {
      const ValueId one = b_.op(Op::gather, {x, column(taps.index, k)}, {{"axis", axis_.axis}});
      const ValueId part = b_.map(Op::mul, {one, spread(column(taps.weight, k), c_.rank(x), 1)});
      sum = k == 0 ? part : b_.map(Op::add, {sum, part});
    }
    return sum;
  }

  ValueId outside() {
    const ValueId at = coordinates();
    const ValueId last = b_.map(Op::sub, {size(axis_.in), number(1)});
    return b_.map(Op::logical_or, {b_.map(Op::less, {at, number(0)}), b_.map(Op::greater, {at, last})});
  }

 private:
  struct Taps {
    ValueId index, weight;  // [out, count]
    int64_t count;
  };

  ValueId number(double v) { return b_.scalar(DType::float32, v); }
  ValueId size(const Dim& d) {
    if (d.is_static()) return number(static_cast<double>(*d.value()));
    return b_.cast(b_.dims({d}, true), DType::float32);
  }
  ValueId integer(const Dim& d) { return b_.dims({d}, true); }
  ValueId scale() {
    return axis_.scale ? number(*axis_.scale) : b_.map(Op::div, {size(axis_.out), size(axis_.in)});
  }

  // ---- coordinates: float32[out]
  ValueId coordinates() {
    const std::string& mode = rule_.coordinates;
    const ValueId x =
        b_.op(Op::iota, {}, {{"shape", Dims{axis_.out}}, {"axis", int64_t{0}}, {"dtype", DType::float32}});
    if (mode == "asymmetric") return b_.map(Op::div, {x, scale()});
    if (mode == "align_corners") return b_.map(Op::div, {b_.map(Op::mul, {x, room(axis_.in)}), steps()});
    if (mode == "tf_crop_and_resize") return cropped(x);
    if (mode == "half_pixel_symmetric") return symmetric(x);
    if (mode == "tf_half_pixel_for_nn") return b_.map(Op::div, {b_.map(Op::add, {x, number(0.5)}), scale()});
    const ValueId half =
        b_.map(Op::sub, {b_.map(Op::div, {b_.map(Op::add, {x, number(0.5)}), scale()}), number(0.5)});
    return mode == "pytorch_half_pixel" ? if_several(half, number(0)) : half;
  }

  ValueId room(const Dim& d) { return b_.map(Op::sub, {size(d), number(1)}); }
  // out - 1, but 1 where there is one position: it stands at 0 then.
  ValueId steps() { return b_.map(Op::max, {room(axis_.out), number(1)}); }
  // `one` where the axis has a single output position.
  ValueId if_several(ValueId several, ValueId one) {
    if (axis_.out.is_static())
      return *axis_.out.value() > 1 ? several : b_.map(Op::add, {b_.map(Op::mul, {several, number(0)}), one});
    return b_.map(Op::select, {b_.map(Op::greater, {size(axis_.out), number(1)}), several, one});
  }

  ValueId cropped(ValueId x) {
    const ValueId last = room(axis_.in);
    const ValueId start = b_.map(Op::mul, {number(axis_.roi_start), last});
    const ValueId extent = number(axis_.roi_end - axis_.roi_start);
    const ValueId part = b_.map(Op::div, {b_.map(Op::mul, {b_.map(Op::mul, {x, extent}), last}), steps()});
    const ValueId centre = b_.map(Op::mul, {number(0.5 * (axis_.roi_start + axis_.roi_end)), last});
    return if_several(b_.map(Op::add, {start, part}), centre);
  }

  // The centre of the input stays the centre of the output, however the size was rounded.
  ValueId symmetric(ValueId x) {
    const ValueId adjustment = b_.map(Op::div, {size(axis_.out), b_.map(Op::mul, {scale(), size(axis_.in)})});
    const ValueId centre = b_.map(Op::div, {size(axis_.in), number(2)});
    const ValueId offset = b_.map(Op::mul, {centre, b_.map(Op::sub, {number(1), adjustment})});
    const auto wide = [&](ValueId v) { return b_.cast(v, DType::float64); };
    const ValueId half = b_.scalar(DType::float64, 0.5);
    const ValueId at = b_.map(Op::div, {b_.map(Op::add, {wide(x), half}), wide(scale())});
    return b_.cast(b_.map(Op::sub, {b_.map(Op::add, {wide(offset), at}), half}), DType::float32);
  }

  // ---- nearest
  // In float64, where x + 0.5 is exact.
  ValueId nearest_index() {
    const ValueId at = b_.cast(coordinates(), DType::float64), half = b_.scalar(DType::float64, 0.5);
    ValueId rounded = kNone;
    if (rule_.rounding == "floor") rounded = b_.map(Op::floor, {at});
    if (rule_.rounding == "ceil") rounded = b_.map(Op::ceil, {at});
    if (rule_.rounding == "round_prefer_floor") rounded = b_.map(Op::ceil, {b_.map(Op::sub, {at, half})});
    if (rule_.rounding == "round_prefer_ceil") rounded = b_.map(Op::floor, {b_.map(Op::add, {at, half})});
    return within(b_.cast(rounded, DType::int64));
  }

  ValueId within(ValueId index) {
    return b_.map(Op::clamp, {index, b_.scalar(DType::int64, 0), integer(Dim::max(axis_.in - Dim(1), 0))});
  }

  // ---- linear and cubic
  // The filter reaches `support` input pixels to each side; with antialias it grows as the output shrinks.
  std::optional<double> support() {
    const double plain = rule_.mode == "cubic" ? 2 : 1;
    if (!rule_.antialias) return plain;
    constexpr double kLeastScale = 1.0 / 65536;
    if (axis_.scale && *axis_.scale >= kLeastScale) return plain * std::max(1.0, 1.0 / *axis_.scale);
    c_.fail(c_.about_attr("antialias", axis_.scale ? Code::bad_attribute : Code::needs_constant,
                          axis_.scale ? "a scale is too small" : "the scale depends on a symbolic dim")
                .because(axis_.scale ? "found " + double_text(*axis_.scale) + ", allowed 1/65536 and up"
                                     : "from " + axis_.in.to_string() + " to " + axis_.out.to_string())
                .try_(axis_.scale ? "" : "pin the dim with --dim NAME=N, or give 'scales'"));
    return std::nullopt;
  }

  Taps make_taps(DType dtype) {
    const auto reach = support();
    if (!reach) return {kNone, kNone, 0};
    const auto count = static_cast<int64_t>(std::ceil(2 * *reach));
    const auto wide = [&](double v) { return b_.scalar(DType::float64, v); };
    const ValueId at = b_.reshape(b_.cast(coordinates(), DType::float64), {axis_.out, Dim(1)});
    const ValueId before = b_.cast(b_.map(Op::floor, {b_.map(Op::sub, {at, wide(*reach)})}), DType::int64);
    const ValueId step = b_.op(
        Op::iota, {}, {{"shape", Dims{Dim(1), Dim(count)}}, {"axis", int64_t{1}}, {"dtype", DType::int64}});
    const ValueId pixel = b_.map(Op::add, {b_.map(Op::add, {before, step}), b_.scalar(DType::int64, 1)});
    const double shrink = rule_.antialias ? std::min(1.0, static_cast<double>(axis_.scale.value_or(1))) : 1;
    const ValueId distance = b_.map(
        Op::mul, {b_.map(Op::abs, {b_.map(Op::sub, {b_.cast(pixel, DType::float64), at})}), wide(shrink)});
    ValueId weight = rule_.mode == "cubic" ? cubic(distance)
                                           : b_.map(Op::max, {b_.map(Op::sub, {wide(1), distance}), wide(0)});
    const ValueId index = within(pixel);
    if (rule_.exclude_outside)
      weight = b_.map(Op::select, {b_.map(Op::equal, {pixel, index}), weight, wide(0)});
    if (rule_.exclude_outside || rule_.antialias)
      weight = b_.map(Op::div, {weight, b_.reduce(weight, "sum", {1}, true)});
    return {index, b_.cast(weight, dtype), count};
  }

  // Keys' convolution kernel, https://ieeexplore.ieee.org/document/1163711 (4).
  ValueId cubic(ValueId d) {
    const double a = rule_.cubic_a;
    const auto wide = [&](double v) { return b_.scalar(DType::float64, v); };
    const auto times = [&](ValueId x, ValueId y) { return b_.map(Op::mul, {x, y}); };
    const auto plus = [&](ValueId x, double y) { return b_.map(Op::add, {x, wide(y)}); };
    const ValueId near = plus(times(times(plus(times(d, wide(a + 2)), -(a + 3)), d), d), 1);
    const ValueId far = times(plus(times(plus(times(plus(d, -5), d), 8), d), -4), wide(a));
    const ValueId tail = b_.map(Op::select, {b_.map(Op::less, {d, wide(2)}), far, wide(0)});
    return b_.map(Op::select, {b_.map(Op::less_equal, {d, wide(1)}), near, tail});
  }

  // Column k of [out, count] as [out].
  ValueId column(ValueId table, int64_t k) {
    if (c_.failed()) return kNone;
    return b_.reshape(c_.slice_axis(table, 1, Dim(k), Dim(1)), {axis_.out});
  }

  // A table of `own` axes as a tensor of rank `rank`, those axes at the resized one.
  ValueId spread(ValueId table, int64_t rank, int64_t own) {
    if (c_.failed()) return kNone;
    Dims shape(rank, Dim(1));
    for (int64_t i = 0; i < own; ++i) shape[axis_.axis + i] = c_.dims(table)[i];
    return b_.reshape(table, shape);
  }

  OpContext& c_;
  Builder& b_;
  const ResizeRule& rule_;
  const ResizeAxis& axis_;
};

}  // namespace

ValueId resize_axis(OpContext& c, ValueId x, const ResizeRule& rule, const ResizeAxis& axis) {
  if (c.failed()) return kNone;
  Axis one(c, rule, axis);
  return rule.mode == "nearest" ? one.nearest(x) : one.interpolate(x);
}

std::optional<int64_t> resize_repeats(const ResizeRule& rule, const ResizeAxis& axis) {
  if (rule.mode != "nearest" || !axis.scale || *axis.scale < 1 || *axis.scale != std::floor(*axis.scale) ||
      *axis.scale > 65536)
    return std::nullopt;
  const auto times = static_cast<int64_t>(*axis.scale);
  if (axis.in * Dim(times) != axis.out) return std::nullopt;
  const bool centred =
      rule.coordinates.find("half_pixel") != std::string::npos && rule.coordinates != "tf_half_pixel_for_nn";
  const bool plain = rule.coordinates == "asymmetric" && rule.rounding == "floor";
  return (centred && rule.rounding.starts_with("round")) || plain ? std::optional(times) : std::nullopt;
}

ValueId resize_outside(OpContext& c, const ResizeRule& rule, const ResizeAxis& axis) {
  return Axis(c, rule, axis).outside();
}

}  // namespace ge
