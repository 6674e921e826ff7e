// Byte ranges of strided views.
#include "contract/view_bounds.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked_math.h"

namespace ge {
namespace {

struct Axis {
  int64_t stride;  // magnitude, in bits
  int64_t reach;   // (extent - 1) * stride
};
struct Axes {
  std::array<Axis, kMaxRank> list;
  int count = 0;
};

// Axes that move, strides made positive, sorted; nullopt on overflow.
std::optional<Axes> moving_axes(const TensorView& view) {
  Axes axes;
  for (int i = 0; i < view.rank; ++i) {
    if (view.dims[i] <= 1) continue;
    const MaybeInt stride = checked_mul(view.strides[i], bits_of(view.dtype));
    if (!stride || *stride == INT64_MIN) return std::nullopt;
    const int64_t magnitude = std::abs(*stride);
    const MaybeInt reach = checked_mul(view.dims[i] - 1, magnitude);
    if (!reach) return std::nullopt;
    axes.list[static_cast<size_t>(axes.count++)] = {magnitude, *reach};
  }
  std::sort(axes.list.begin(), axes.list.begin() + axes.count,
            [](const Axis& a, const Axis& b) { return a.stride < b.stride; });
  return axes;
}

// Bits from the view's lowest element on, with every axis whose stride is a multiple of `period` left out.
MaybeInt length_within(const Axes& axes, int64_t period, int64_t element_bits) {
  MaybeInt length = element_bits;
  for (int i = 0; i < axes.count && length; ++i) {
    const Axis& axis = axes.list[static_cast<size_t>(i)];
    if (axis.stride % period != 0) length = checked_add(*length, axis.reach);
  }
  return length;
}

// Modulo `period`, do [a, a + length_a) and [b, b + length_b) stay apart?
bool apart_modulo(int64_t a, int64_t length_a, int64_t b, int64_t length_b, int64_t period) {
  if (length_a > period || length_b > period) return false;
  const MaybeInt difference = checked_sub(b, a);
  if (!difference) return false;
  const int64_t forward = *floor_mod(*difference, period);
  const int64_t backward = forward == 0 ? 0 : period - forward;
  return forward >= length_a && backward >= length_b;
}

}  // namespace

bool is_empty(const TensorView& view) {
  return std::any_of(view.dims, view.dims + std::max(view.rank, 0), [](int64_t d) { return d == 0; });
}

std::optional<ByteRange> byte_range(const TensorView& view, int64_t offset_bytes) {
  if (is_empty(view)) return ByteRange{offset_bytes, offset_bytes};
  const int64_t bits = bits_of(view.dtype);
  MaybeInt low = checked_mul(offset_bytes, 8), high = low;
  if (low) high = checked_add(*low, bits);
  for (int i = 0; i < view.rank; ++i) {
    if (!low || !high) return std::nullopt;
    MaybeInt reach = checked_mul(view.dims[i] - 1, view.strides[i]);
    if (reach) reach = checked_mul(*reach, bits);
    if (!reach) return std::nullopt;
    MaybeInt& side = *reach < 0 ? low : high;
    side = checked_add(*side, *reach);
  }
  if (!low || !high || *high > INT64_MAX - 7) return std::nullopt;
  return ByteRange{*floor_div(*low, 8), (*high + 7) / 8};
}

bool overlaps_itself(const TensorView& view) {
  if (is_empty(view)) return false;
  const auto axes = moving_axes(view);
  if (!axes) return true;
  int64_t below = bits_of(view.dtype);  // bits that the smaller axes span together
  for (int i = 0; i < axes->count; ++i) {
    const Axis& axis = axes->list[static_cast<size_t>(i)];
    if (axis.stride < below) return true;
    const MaybeInt sum = checked_add(below, axis.reach);
    if (!sum) return true;
    below = *sum;
  }
  return false;
}

bool views_overlap(const TensorView& a, int64_t offset_a, const TensorView& b, int64_t offset_b) {
  const auto range_a = byte_range(a, offset_a), range_b = byte_range(b, offset_b);
  if (!range_a || !range_b) return true;
  if (is_empty(a) || is_empty(b) || range_a->end <= range_b->begin || range_b->end <= range_a->begin)
    return false;
  if (bits_of(a.dtype) < 8 || bits_of(b.dtype) < 8) return true;  // neighbours may share a byte
  const auto axes_a = moving_axes(a), axes_b = moving_axes(b);
  if (!axes_a || !axes_b || range_a->begin > INT64_MAX / 8 || range_b->begin > INT64_MAX / 8) return true;
  for (int i = 0; i < axes_a->count; ++i) {
    const int64_t period = axes_a->list[static_cast<size_t>(i)].stride;
    if (period == 0) continue;
    const MaybeInt length_a = length_within(*axes_a, period, bits_of(a.dtype));
    const MaybeInt length_b = length_within(*axes_b, period, bits_of(b.dtype));
    if (!length_a || !length_b) continue;
    if (apart_modulo(range_a->begin * 8, *length_a, range_b->begin * 8, *length_b, period)) return false;
  }
  return true;
}

bool same_layout(const TensorView& a, const TensorView& b) {
  if (a.rank != b.rank || bits_of(a.dtype) != bits_of(b.dtype)) return false;
  for (int i = 0; i < a.rank; ++i) {
    if (a.dims[i] != b.dims[i] || (a.dims[i] > 1 && a.strides[i] != b.strides[i])) return false;
  }
  return true;
}

}  // namespace ge
