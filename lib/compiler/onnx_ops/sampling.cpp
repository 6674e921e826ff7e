// Taps and their sums on core gather and maps.
#include "compiler/onnx_ops/sampling.h"

namespace ge {
namespace {

ValueId as_float(OpContext& c, ValueId like, const Dim& size) {
  return c.build().cast(c.size_scalar(size), c.dtype(like));
}

// Mirrored about `low` and `high` until it is between them; `low` where they are one.
ValueId reflected(OpContext& c, ValueId x, ValueId low, ValueId high) {
  Builder& b = c.build();
  const ValueId range = b.map(Op::sub, {high, low}), zero = c.scalar_like(x, 0), two = c.scalar_like(x, 2);
  const ValueId positive = b.map(Op::greater, {range, zero});
  const ValueId period = b.map(Op::select, {positive, b.map(Op::mul, {range, two}), c.scalar_like(x, 1)});
  const ValueId phase = b.map(Op::fmod, {b.map(Op::abs, {b.map(Op::sub, {x, low})}), period});
  const ValueId folded = b.map(Op::min, {phase, b.map(Op::sub, {period, phase})});
  return b.map(Op::select, {positive, b.map(Op::add, {low, folded}), low});
}

// The element that stands for the whole number `at`.
Tap tap_at(OpContext& c, ValueId at, ValueId weight, const AxisRule& rule) {
  Builder& b = c.build();
  Tap tap{kNone, weight};
  const ValueId zero = c.scalar_like(at, 0),
                last = b.map(Op::sub, {as_float(c, at, rule.size), c.scalar_like(at, 1)});
  if (rule.outside == Outside::kReflected) {
    const double half = rule.to_edges ? 0.5 : 0;
    at = reflected(c, at, c.scalar_like(at, -half), b.map(Op::add, {last, c.scalar_like(at, half)}));
  } else if (rule.outside == Outside::kZero) {
    tap.valid =
        b.map(Op::logical_and, {b.map(Op::greater_equal, {at, zero}), b.map(Op::less_equal, {at, last})});
  }
  tap.index = b.cast(b.map(Op::clamp, {at, zero, b.map(Op::max, {last, zero})}), DType::int64);
  return tap;
}

}  // namespace

ValueId inside(OpContext& c, ValueId place, const AxisRule& rule) {
  if (c.failed() || rule.outside == Outside::kZero) return place;
  Builder& b = c.build();
  const ValueId zero = c.scalar_like(place, 0);
  const ValueId last = b.map(Op::sub, {as_float(c, place, rule.size), c.scalar_like(place, 1)});
  if (rule.outside == Outside::kReflected) {
    const double half = rule.to_edges ? 0.5 : 0;
    return reflected(c, place, c.scalar_like(place, -half),
                     b.map(Op::add, {last, c.scalar_like(place, half)}));
  }
  return b.map(Op::clamp, {place, zero, b.map(Op::max, {last, zero})});
}

std::vector<Tap> nearest_taps(OpContext& c, ValueId place, const AxisRule& rule) {
  return {tap_at(c, c.build().map(Op::round, {place}), kNone, rule)};
}

std::vector<Tap> linear_taps(OpContext& c, ValueId place, const AxisRule& rule) {
  Builder& b = c.build();
  const ValueId first = b.map(Op::floor, {place}), one = c.scalar_like(place, 1);
  const ValueId part = b.map(Op::sub, {place, first});
  return {tap_at(c, first, b.map(Op::sub, {one, part}), rule),
          tap_at(c, b.map(Op::add, {first, one}), part, rule)};
}

std::vector<Tap> cubic_taps(OpContext& c, ValueId place, const AxisRule& rule) {
  Builder& b = c.build();
  const ValueId first = b.map(Op::floor, {place});
  const ValueId part = b.map(Op::sub, {place, first});
  const auto number = [&](double v) { return c.scalar_like(place, v); };
  const auto times = [&](ValueId x, ValueId y) { return b.map(Op::mul, {x, y}); };
  const auto plus = [&](ValueId x, double v) { return b.map(Op::add, {x, number(v)}); };
  constexpr double a = -0.75;
  // |t| <= 1: ((a + 2) t - (a + 3)) t^2 + 1;  1 < |t| < 2: ((a t - 5 a) t + 8 a) t - 4 a
  const auto near = [&](ValueId t) {
    return plus(times(times(plus(times(t, number(a + 2)), -(a + 3)), t), t), 1);
  };
  const auto far = [&](ValueId t) {
    return plus(times(plus(times(plus(times(t, number(a)), -5 * a), t), 8 * a), t), -4 * a);
  };
  const ValueId rest = b.map(Op::sub, {number(1), part});
  const ValueId weights[] = {far(plus(part, 1)), near(part), near(rest), far(plus(rest, 1))};
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) taps.push_back(tap_at(c, plus(first, i - 1), weights[i], rule));
  return taps;
}

namespace {

class Sampler {
 public:
  Sampler(OpContext& c, ValueId x, const std::vector<std::vector<Tap>>& taps)
      : c_(c), b_(c.build()), taps_(taps), dims_(c.dims(x)) {
    flat_ = b_.reshape(x, {dims_[0], dims_[1], product(dims_, 2)});
  }

  ValueId run() {
    add(0, kNone, kNone, kNone);
    return sum_;
  }

 private:
  // All combinations of taps from `axis` on, below those chosen already.
  void add(size_t axis, ValueId index, ValueId weight, ValueId valid) {
    if (c_.failed()) return;
    if (axis == taps_.size()) return add_element(index, weight, valid);
    const Dim step = product(dims_, axis + 3);
    for (const Tap& tap : taps_[axis]) {
      const ValueId here = step.is_value(1) ? tap.index : b_.map(Op::mul, {tap.index, c_.size_scalar(step)});
      add(axis + 1, both(Op::add, index, here), both(Op::mul, weight, tap.weight),
          both(Op::logical_and, valid, tap.valid));
    }
  }

  ValueId both(Op op, ValueId a, ValueId b) { return a == kNone ? b : b == kNone ? a : b_.map(op, {a, b}); }

  // Per point as [batch, 1, points].
  ValueId unit(ValueId v) {
    if (v == kNone || c_.failed()) return kNone;
    return b_.reshape(v, {c_.dims(v)[0], 1, c_.dims(v)[1]});
  }

  // An element that does not count is 0 also where what stands there is no number.
  void add_element(ValueId index, ValueId weight, ValueId valid) {
    const ValueId at = unit(index);
    if (c_.failed()) return;
    const Dims shape{dims_[0], dims_[1], c_.dims(at)[2]};
    ValueId v =
        b_.op(Op::gather, {flat_, b_.broadcast(at, shape)}, {{"axis", int64_t{2}}, {"elements", int64_t{1}}});
    if (valid != kNone) v = b_.map(Op::select, {unit(valid), v, c_.scalar_like(v, 0)});
    if (weight != kNone) v = b_.map(Op::mul, {v, unit(weight)});
    sum_ = both(Op::add, sum_, v);
  }

  OpContext& c_;
  Builder& b_;
  const std::vector<std::vector<Tap>>& taps_;
  const Dims dims_;
  ValueId flat_ = kNone, sum_ = kNone;
};

}  // namespace

ValueId sample_points(OpContext& c, ValueId x, const std::vector<std::vector<Tap>>& taps) {
  if (c.failed()) return kNone;
  return Sampler(c, x, taps).run();
}

}  // namespace ge
