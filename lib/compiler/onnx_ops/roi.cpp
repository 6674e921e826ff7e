// RoiAlign and MaxRoiPool: regions of images brought to one size.
//
// RoiAlign averages (or takes the greatest of) samples between elements. With sampling_ratio their number is
// known and each is read. Without, every region has a number of its own; then the average is a product with
// two matrices of weights, Y = Wy X Wx', each weight the sum of a row's share of all samples in closed form.
// An element beyond the edge by up to one counts as the edge, further out as 0.
#include <algorithm>
#include <limits>

#include "compiler/onnx_ops/sampling.h"

namespace ge {
namespace {

// The shape checks that both share: X [N, C, H, W], regions [R, columns].
bool check_regions(OpContext& c, int64_t columns) {
  if (c.rank(c.in(0)) != 4) {
    c.fail(c.about_input(0, Code::operand_rank, "'X' must be [N, C, H, W]")
               .because("found " + c.describe(c.in(0))));
    return false;
  }
  const ValueId rois = c.in(1);
  if (c.rank(rois) != 2 || Dim::never_equal(c.dims(rois)[1], columns)) {
    c.fail(c.about_input(1, Code::operand_rank, "'rois' must be [regions, " + std::to_string(columns) + "]")
               .because("found " + c.describe(rois)));
    return false;
  }
  c.require_equal(c.dims(rois)[1], columns, "'rois' must have " + std::to_string(columns) + " columns");
  for (const size_t i : {2, 3})
    if (c.dims(c.in(0))[i].is_value(0))
      c.fail(c.about_input(0, Code::shape_mismatch, "an empty image has no regions")
                 .because("found " + c.describe(c.in(0))));
  return !c.failed();
}

class RoiAlign {
 public:
  explicit RoiAlign(OpContext& c) : c_(c), b_(c.build()) {}

  Results run() {
    if (!read_attributes() || !check_regions(c_, 4)) return kNone;
    if (c_.rank(c_.in(2)) != 1)
      return c_.fail(c_.about_input(2, Code::operand_rank, "'batch_indices' must be a vector")
                         .because("found " + c_.describe(c_.in(2))));
    c_.require_equal(c_.dims(c_.in(2))[0], c_.dims(c_.in(1))[0],
                     "'batch_indices' needs one number for each region");
    if (c_.failed()) return kNone;
    regions_ = c_.dims(c_.in(1))[0];
    x_ = c_.wide(c_.in(0));
    type_ = c_.dtype(x_);
    const ValueId y = samples_ > 0 ? by_samples() : by_weights();
    return c_.failed() ? kNone : b_.cast(y, c_.dtype(c_.in(0)));
  }

 private:
  // One spatial axis of the regions, in elements of the image: [regions, 1].
  struct Extent {
    ValueId start, bin;  // bin: the length of one output element
  };

  bool refuse(std::string_view name, Code code, const std::string& message, const std::string& found) {
    return c_.refuse(c_.about_attr(name, code, message), found);
  }

  bool read_attributes() {
    out_[0] = c_.int_attr("output_height"), out_[1] = c_.int_attr("output_width");
    for (const char* name : {"output_height", "output_width"})
      if (c_.int_attr(name) < 1 || c_.int_attr(name) > 65536)
        return refuse(name, Code::bad_attribute, std::string(name) + " is not valid",
                      "found " + std::to_string(c_.int_attr(name)) + ", allowed 1 .. 65536");
    samples_ = c_.int_attr("sampling_ratio");
    if (samples_ < 0 || samples_ > 1024)
      return refuse("sampling_ratio", Code::bad_attribute, "sampling_ratio is not valid",
                    "found " + std::to_string(samples_) + ", allowed 0 .. 1024");
    takes_max_ = c_.string_attr("mode") == "max";
    if (takes_max_ && samples_ == 0)
      return refuse("mode", Code::unsupported_feature, "max needs a sampling_ratio",
                    "without one the number of samples depends on the regions' values");
    if (c_.op().attribute("coordinate_transformation_mode"))
      half_pixel_ = c_.string_attr("coordinate_transformation_mode") == "half_pixel";
    return true;
  }

  ValueId number(double v) { return b_.scalar(type_, v); }
  const Dim& size(size_t axis) const { return c_.dims(x_)[2 + axis]; }

  // Axis 0 is y (columns 1 and 3 of the regions), axis 1 is x (0 and 2).
  Extent extent(size_t axis) {
    const ValueId rois = b_.cast(c_.in(1), type_);
    const auto edge = [&](int64_t column) {
      const ValueId v = b_.map(
          Op::mul, {c_.slice_axis(rois, 1, Dim(column), Dim(1)), number(c_.float_attr("spatial_scale"))});
      return half_pixel_ ? b_.map(Op::sub, {v, number(0.5)}) : v;
    };
    const int64_t first = axis == 0 ? 1 : 0;
    const ValueId start = edge(first);
    ValueId length = b_.map(Op::sub, {edge(first + 2), start});
    if (!half_pixel_) length = b_.map(Op::max, {length, number(1)});
    return {start, b_.map(Op::div, {length, number(static_cast<double>(out_[axis]))})};
  }

  // -- a known number of samples --

  struct AxisSamples {
    std::vector<Tap> taps;  // [regions, out * samples]
    ValueId valid;
  };

  AxisSamples samples_of(size_t axis) {
    const Extent e = extent(axis);
    const int64_t count = out_[axis] * samples_;
    // start + (i + 0.5) bin / samples
    const ValueId i = b_.map(Op::add, {b_.cast(c_.positions({1, Dim(count)}, 1), type_), number(0.5)});
    const ValueId step = b_.map(Op::div, {e.bin, number(static_cast<double>(samples_))});
    const ValueId place = b_.map(Op::add, {e.start, b_.map(Op::mul, {i, step})});
    const ValueId length = b_.cast(c_.size_scalar(size(axis)), type_);
    const ValueId valid = b_.map(Op::logical_and, {b_.map(Op::greater_equal, {place, number(-1)}),
                                                   b_.map(Op::less_equal, {place, length})});
    const AxisRule rule{size(axis), Outside::kNearest};
    return {linear_taps(c_, inside(c_, place, rule), rule), valid};
  }

  // [channels, regions * points], from the image flattened behind its channels.
  ValueId by_samples() {
    const AxisSamples y = samples_of(0), x = samples_of(1);
    if (c_.failed()) return kNone;
    const Dims dims = c_.dims(x_);
    const ValueId flat = b_.reshape(b_.transpose(x_, {1, 0, 2, 3}), {dims[1], dims[0] * dims[2] * dims[3]});
    const Dims grid{regions_, Dim(out_[0] * samples_), Dim(out_[1] * samples_)};
    const auto rows = [&](ValueId v) { return b_.reshape(v, {grid[0], grid[1], 1}); };
    const auto columns = [&](ValueId v) { return b_.reshape(v, {grid[0], 1, grid[2]}); };
    const auto points = [&](ValueId v) { return b_.reshape(b_.broadcast(v, grid), {product(grid)}); };
    const ValueId image = b_.map(Op::mul, {b_.reshape(b_.cast(c_.in(2), DType::int64), {regions_, 1, 1}),
                                           c_.size_scalar(dims[2] * dims[3])});
    ValueId all = kNone;
    for (const Tap& ty : y.taps) {
      const ValueId row =
          b_.map(Op::add, {image, b_.map(Op::mul, {rows(ty.index), c_.size_scalar(dims[3])})});
      for (const Tap& tx : x.taps) {
        const ValueId at = points(b_.map(Op::add, {row, columns(tx.index)}));
        const ValueId weight = points(b_.map(Op::mul, {rows(ty.weight), columns(tx.weight)}));
        if (c_.failed()) return kNone;
        const ValueId v = b_.map(Op::mul, {b_.op(Op::gather, {flat, at}, {{"axis", int64_t{1}}}), weight});
        all = all == kNone ? v : b_.map(takes_max_ ? Op::max : Op::add, {all, v});
      }
    }
    const ValueId valid = points(b_.map(Op::logical_and, {rows(y.valid), columns(x.valid)}));
    all = b_.map(Op::select, {valid, all, number(0)});
    const ValueId bins =
        b_.reshape(all, {dims[1], regions_, Dim(out_[0]), Dim(samples_), Dim(out_[1]), Dim(samples_)});
    return c_.failed()
               ? kNone
               : b_.transpose(b_.reduce(bins, takes_max_ ? "max" : "mean", {3, 5}, false), {1, 0, 2, 3});
  }

  // -- as many samples as a region is long: ceil(bin) along each axis --

  // Samples of a bin that lie in [from, to), and the sum of their places; places are start + (s + 0.5) step,
  // 0 <= s < count.
  struct Part {
    ValueId count, sum;
  };
  struct Samples {
    ValueId start, step, count;
  };

  Part part(const Samples& s, ValueId from, ValueId to, bool with_last) {
    const auto index = [&](ValueId edge, bool past) {
      const ValueId at =
          b_.map(Op::sub, {b_.map(Op::div, {b_.map(Op::sub, {edge, s.start}), s.step}), number(0.5)});
      const ValueId whole =
          past ? b_.map(Op::add, {b_.map(Op::floor, {at}), number(1)}) : b_.map(Op::ceil, {at});
      return b_.map(Op::clamp, {whole, number(0), s.count});
    };
    const ValueId low = index(from, false), high = index(to, with_last);
    const ValueId count = b_.map(Op::max, {b_.map(Op::sub, {high, low}), number(0)});
    const ValueId middle =
        b_.map(Op::mul, {b_.map(Op::mul, {b_.map(Op::add, {low, high}), number(0.5)}), s.step});
    return {count, b_.map(Op::mul, {count, b_.map(Op::add, {s.start, middle})})};
  }

  // Weights [regions, out, size] of an axis's elements, and the number of samples [regions, 1, 1].
  std::pair<ValueId, ValueId> weights(size_t axis) {
    const Extent e = extent(axis);
    const auto deep = [&](ValueId v) { return b_.reshape(v, {regions_, 1, 1}); };
    const ValueId bin = deep(e.bin), wanted = b_.map(Op::max, {b_.map(Op::ceil, {bin}), number(0)});
    const ValueId divisor = b_.map(Op::max, {wanted, number(1)});
    const ValueId steps = b_.map(Op::div, {bin, divisor});
    const ValueId step = b_.map(Op::select, {b_.map(Op::greater, {steps, number(0)}), steps, number(1)});
    const ValueId o = b_.cast(c_.positions({1, Dim(out_[axis]), 1}, 1), type_);
    const Samples s{b_.map(Op::add, {deep(e.start), b_.map(Op::mul, {o, bin})}), step, wanted};
    const ValueId h = b_.cast(c_.positions({1, 1, size(axis)}, 2), type_);
    const ValueId before = b_.map(Op::sub, {h, number(1)}), after = b_.map(Op::add, {h, number(1)});
    const ValueId last = b_.cast(c_.size_scalar(size(axis) - Dim(1)), type_);
    // Rising from the element before, falling to the one after; at the ends the whole sample instead.
    const Part up = part(s, before, h, false), down = part(s, h, after, false), end = part(s, h, after, true);
    const ValueId rising = b_.map(Op::sub, {up.sum, b_.map(Op::mul, {up.count, before})});
    const ValueId falling = b_.map(Op::sub, {b_.map(Op::mul, {down.count, after}), down.sum});
    const ValueId left = b_.map(Op::select, {b_.map(Op::equal, {h, number(0)}), up.count, rising});
    const ValueId right = b_.map(Op::select, {b_.map(Op::equal, {h, last}), end.count, falling});
    return {b_.map(Op::add, {left, right}), wanted};
  }

  // The region's image [regions, C, H, W]: where there is one image, [1, C, H, W].
  ValueId by_weights() {
    const DType narrow = type_;
    type_ = DType::float64;  // sums of places cancel
    auto [wy, ny] = weights(0);
    auto [wx, nx] = weights(1);
    if (c_.failed()) return kNone;
    const ValueId count = b_.map(Op::max, {b_.map(Op::mul, {ny, nx}), number(1)});
    wy = b_.cast(b_.map(Op::div, {wy, count}), narrow);
    wx = b_.cast(wx, narrow);
    if (c_.failed()) return kNone;
    const Dims dims = c_.dims(x_);
    const Dim oh(out_[0]), ow(out_[1]);
    ValueId rows = kNone;  // [regions, oh, C, W]
    if (dims[0].is_value(1)) {
      const ValueId image = b_.reshape(b_.transpose(b_.reshape(x_, {dims[1], dims[2], dims[3]}), {1, 0, 2}),
                                       {dims[2], dims[1] * dims[3]});
      rows = b_.op(Op::dot, {b_.reshape(wy, {regions_ * oh, dims[2]}), image});
    } else {
      const ValueId images =
          b_.op(Op::gather, {b_.transpose(x_, {0, 2, 1, 3}), c_.in(2)}, {{"axis", int64_t{0}}});
      rows = c_.failed() ? kNone
                         : b_.op(Op::dot, {wy, b_.reshape(images, {regions_, dims[2], dims[1] * dims[3]})});
    }
    if (c_.failed()) return kNone;
    const ValueId left = b_.reshape(rows, {regions_, oh * dims[1], dims[3]});
    const ValueId y = b_.op(Op::dot, {left, b_.transpose(wx, {0, 2, 1})});
    return c_.failed() ? kNone : b_.transpose(b_.reshape(y, {regions_, oh, dims[1], ow}), {0, 2, 1, 3});
  }

  OpContext& c_;
  Builder& b_;
  int64_t out_[2] = {1, 1}, samples_ = 0;
  bool takes_max_ = false, half_pixel_ = false;
  Dim regions_;
  ValueId x_ = kNone;
  DType type_ = DType::float32;
};

// Half away from zero, as C's round.
ValueId rounded(OpContext& c, ValueId x) {
  Builder& b = c.build();
  const ValueId up = b.map(Op::floor, {b.map(Op::add, {b.map(Op::abs, {x}), c.scalar_like(x, 0.5)})});
  return b.map(Op::select, {b.map(Op::less, {x, c.scalar_like(x, 0)}), b.map(Op::neg, {up}), up});
}

// bool [regions, out, size]: the elements of an axis that output element o of a region covers.
ValueId covered(OpContext& c, ValueId rois, int64_t first, const Dim& size, int64_t out) {
  Builder& b = c.build();
  const auto column = [&](int64_t i) {
    const ValueId v = b.map(
        Op::mul, {c.slice_axis(rois, 1, Dim(i), Dim(1)), c.scalar_like(rois, c.float_attr("spatial_scale"))});
    return c.failed() ? kNone : b.reshape(rounded(c, v), {c.dims(rois)[0], 1, 1});
  };
  const ValueId start = column(first), end = column(first + 2), one = c.scalar_like(rois, 1);
  const ValueId length = b.map(Op::max, {b.map(Op::add, {b.map(Op::sub, {end, start}), one}), one});
  const ValueId bin = b.map(Op::div, {length, c.scalar_like(rois, static_cast<double>(out))});
  const ValueId o = b.cast(c.positions({1, Dim(out), 1}, 1), c.dtype(rois)), next = b.map(Op::add, {o, one});
  const ValueId low = b.map(Op::add, {b.map(Op::floor, {b.map(Op::mul, {o, bin})}), start});
  const ValueId high = b.map(Op::add, {b.map(Op::ceil, {b.map(Op::mul, {next, bin})}), start});
  const ValueId at = b.cast(c.positions({1, 1, size}, 2), c.dtype(rois));
  return b.map(Op::logical_and, {b.map(Op::greater_equal, {at, low}), b.map(Op::less, {at, high})});
}

}  // namespace

Results lower_roi_align(OpContext& c) {
  return RoiAlign(c).run();
}

// The greatest element of each part of a region [batch, x1, y1, x2, y2]; 0 where a part lies outside. Rows
// first, then columns.
Results lower_max_roi_pool(OpContext& c) {
  Builder& b = c.build();
  const std::vector<int64_t> out = c.ints_attr("pooled_shape");
  if (out.size() != 2 || std::any_of(out.begin(), out.end(), [](int64_t n) { return n < 1 || n > 65536; })) {
    return c.fail(
        c.about_attr("pooled_shape", Code::bad_attribute, "pooled_shape must be two numbers, 1 .. 65536")
            .because("found " + std::to_string(out.size()) + " numbers"));
  }
  if (!check_regions(c, 5)) return kNone;
  const ValueId x = c.in(0), rois = c.wide(c.in(1));
  const Dims dims = c.dims(x);
  const Dim regions = c.dims(rois)[0], rows(out[0]), columns(out[1]);
  const ValueId image = b.cast(b.reshape(c.slice_axis(rois, 1, Dim(0), Dim(1)), {regions}), DType::int64);
  const ValueId in_rows = covered(c, rois, 2, dims[2], out[0]),
                in_columns = covered(c, rois, 1, dims[3], out[1]);
  if (c.failed()) return kNone;
  const ValueId lowest = c.scalar_like(x, -std::numeric_limits<double>::infinity());
  const ValueId images = b.op(Op::gather, {x, image}, {{"axis", int64_t{0}}});
  const ValueId by_row =
      b.map(Op::select, {b.reshape(in_rows, {regions, 1, rows, dims[2], 1}),
                         b.reshape(images, {regions, dims[1], 1, dims[2], dims[3]}), lowest});
  const ValueId tall = b.reduce(by_row, "max", {3}, false);  // [regions, C, rows, W]
  if (c.failed()) return kNone;
  const ValueId by_column =
      b.map(Op::select, {b.reshape(in_columns, {regions, 1, 1, columns, dims[3]}),
                         b.reshape(tall, {regions, dims[1], rows, 1, dims[3]}), lowest});
  const ValueId y = b.reduce(by_column, "max", {4}, false);
  const auto any = [&](ValueId v, const Dims& shape) {
    return b.reshape(b.reduce(b.cast(v, DType::int32), "max", {2}, false), shape);
  };
  const ValueId seen =
      b.map(Op::mul, {any(in_rows, {regions, 1, rows, 1}), any(in_columns, {regions, 1, 1, columns})});
  return b.map(Op::select, {b.map(Op::greater, {seen, b.scalar(DType::int32, 0)}), y, c.scalar_like(x, 0)});
}

}  // namespace ge
