// Which bytes a view touches. Entry: byte_range, overlaps_itself, views_overlap. All in checked int64.
// Invariant: what cannot be shown to be apart counts as overlapping.
#pragma once
#include <cstdint>
#include <optional>

#include "contract/tensor_view.h"

namespace ge {

// From the buffer's start: first byte and one past the last, of a view whose element (0, ..., 0) is at
// `offset_bytes`. An empty view touches no byte: begin == end == offset_bytes. nullopt: it overflows int64.
struct ByteRange {
  int64_t begin = 0, end = 0;
};
std::optional<ByteRange> byte_range(const TensorView& view, int64_t offset_bytes);
bool is_empty(const TensorView& view);
// May two elements of the view lie on the same bytes? (The views of a compiler never do, apart from broadcast
// inputs.)
bool overlaps_itself(const TensorView& view);
// May the views share a byte? Offsets are from one common base. Sees through interleaved slices of one tensor
// (concat).
bool views_overlap(const TensorView& a, int64_t offset_a, const TensorView& b, int64_t offset_b);
// Same element type, extents and strides (strides of axes of extent 1 do not count).
bool same_layout(const TensorView& a, const TensorView& b);

}  // namespace ge
