// The output Indices of MaxPool: where in the flattened input each maximum stands. Entry: max_pool_indices.
//
// Core pool gives no positions, so the windows are taken apart axis by axis, the last first: a gather lays
// the K elements of each window side by side, argmax picks one, and its position goes along. The first
// maximum in row-major order wins, and the first NaN: ties go to the lower row, then to the lower column.
#include "compiler/onnx_ops/max_pool_indices.h"

#include <algorithm>

namespace ge {
namespace {

class IndexFinder {
 public:
  IndexFinder(OpContext& c, const Window& window, const Dims& out)
      : c_(c), b_(c.build()), window_(window), out_(out), in_(c.dims(c.in(0))) {}

  ValueId run() {
    const size_t spatial = window_.kernel.size();
    ValueId values = c_.in(0), index = kNone;
    for (size_t i = spatial; i-- > 0 && !c_.failed();) {
      const auto axis = static_cast<int64_t>(2 + i);
      const ValueId table = positions(i);
      const ValueId windows = b_.op(Op::gather, {values, table}, {{"axis", axis}});
      if (c_.failed()) return kNone;
      // [..., out, K, ...]: the table along its two axes, weighed by the axis's step in the flattened input.
      ValueId place = b_.map(Op::mul, {spread(table, axis, c_.rank(windows)), number(step_of(i))});
      if (index != kNone)
        place = b_.map(Op::add, {b_.op(Op::gather, {index, table}, {{"axis", axis}}), place});
      index = pick(windows, place, axis + 1);
      values = b_.reduce(windows, "max", {axis + 1}, false);
    }
    return b_.map(Op::add, {index, b_.map(Op::mul, {plane(), number(product(in_, 2))})});
  }

 private:
  ValueId number(const Dim& value) { return b_.dims({value}, true); }
  ValueId number(int64_t value) { return b_.scalar(DType::int64, static_cast<double>(value)); }
  ValueId iota(const Dims& shape, int64_t axis) {
    return b_.op(Op::iota, {}, {{"shape", shape}, {"axis", axis}, {"dtype", DType::int64}});
  }

  // [out, K]: the element that step k of window o takes. Steps into the padding take the nearest one of the
  // window that is inside instead, which cannot change which maximum comes first.
  ValueId positions(size_t i) {
    const ValueId start =
        b_.map(Op::sub, {b_.map(Op::mul, {iota({out_[2 + i], Dim(1)}, 0), number(window_.strides[i])}),
                         number(window_.pads_begin[i])});
    const ValueId step = number(window_.dilations[i]), zero = number(int64_t{0});
    const ValueId last = b_.map(Op::sub, {number(in_[2 + i]), number(int64_t{1})});
    const ValueId before = b_.map(Op::max, {b_.map(Op::neg, {start}), zero});
    const ValueId first_k =
        b_.map(Op::div, {b_.map(Op::add, {before, number(window_.dilations[i] - 1)}), step});
    const ValueId last_k = b_.map(Op::div, {b_.map(Op::max, {b_.map(Op::sub, {last, start}), zero}), step});
    const ValueId k = b_.map(Op::clamp, {iota({Dim(1), Dim(window_.kernel[i])}, 1), first_k, last_k});
    const ValueId at = b_.map(Op::add, {start, b_.map(Op::mul, {k, step})});
    return b_.map(Op::clamp, {at, zero, b_.map(Op::max, {last, zero})});
  }

  // [out, K] as [1, ..., out, K, 1, ...] of rank `rank`.
  ValueId spread(ValueId table, int64_t axis, int64_t rank) {
    if (c_.failed()) return kNone;
    Dims shape(rank, Dim(1));
    shape[axis] = c_.dims(table)[0];
    shape[axis + 1] = c_.dims(table)[1];
    return b_.reshape(table, shape);
  }

  // place where windows has its maximum along the axis.
  ValueId pick(ValueId windows, ValueId place, int64_t axis) {
    const ValueId best = b_.reduce(windows, "argmax", {axis}, true);
    if (c_.failed()) return kNone;
    Dims shape(c_.dims(windows).size(), Dim(1));
    shape[axis] = c_.dims(windows)[axis];
    const ValueId hit = b_.map(Op::equal, {iota(shape, axis), best});
    return b_.reduce(b_.map(Op::select, {hit, place, number(int64_t{0})}), "sum", {axis}, false);
  }

  // What one step along a spatial axis is worth in the flattened input: row major, or with storage_order 1
  // column major.
  Dim step_of(size_t i) {
    return c_.int_attr("storage_order") == 0 ? product(in_, 3 + i) : product(in_, 2, 2 + i);
  }

  // The number of the plane of each output: n * C + c.
  ValueId plane() {
    Dims images(in_.size(), Dim(1)), channels(in_.size(), Dim(1));
    images[0] = in_[0];
    channels[1] = in_[1];
    return b_.map(Op::add, {b_.map(Op::mul, {iota(images, 0), number(in_[1])}), iota(channels, 1)});
  }

  OpContext& c_;
  Builder& b_;
  const Window& window_;
  const Dims out_, in_;
};

}  // namespace

ValueId max_pool_indices(OpContext& c, const Window& window, const Dims& out) {
  return IndexFinder(c, window, out).run();
}

}  // namespace ge
