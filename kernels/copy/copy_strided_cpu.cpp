// copy_strided_cpu: merges axes that are one run on both sides, then copies rows: whole runs where both sides
// are dense, 32 x 32 tiles where the last two axes swap (a transpose), element by element otherwise. Entry:
// copy_strided_cpu.
#include <algorithm>
#include <cstring>

#include "kernels/common/strided_walk.h"
#include "kernels/copy/copy_row.h"
#include "kernels/launch_context.h"

namespace ge::kernels {
namespace {

struct Plane {  // merged axes, outermost first; the last two are copied by a kernel, the rest are walked
  int rank = 0;
  int64_t dims[kMaxRank + 2] = {};
  int64_t in[kMaxRank + 2] = {}, out[kMaxRank + 2] = {};
};

// Drops axes of extent 1 and merges neighbours that step alike on both sides; pads to at least two axes.
Plane merge_axes(const CopyArgs& args) {
  Plane plane;
  for (int axis = 0; axis < args.out.rank; ++axis) {
    const int64_t dim = args.out.dims[axis], in = args.in.strides[axis], out = args.out.strides[axis];
    if (dim == 1) continue;
    const int last = plane.rank - 1;
    if (last >= 0 && plane.in[last] == in * dim && plane.out[last] == out * dim) {
      plane.dims[last] *= dim;
      plane.in[last] = in;
      plane.out[last] = out;
      continue;
    }
    plane.dims[plane.rank] = dim;
    plane.in[plane.rank] = in;
    plane.out[plane.rank++] = out;
  }
  while (plane.rank < 2) {
    std::copy_backward(plane.dims, plane.dims + plane.rank, plane.dims + plane.rank + 1);
    std::copy_backward(plane.in, plane.in + plane.rank, plane.in + plane.rank + 1);
    std::copy_backward(plane.out, plane.out + plane.rank, plane.out + plane.rank + 1);
    plane.dims[0] = 1;
    plane.in[0] = plane.out[0] = 0;
    ++plane.rank;
  }
  return plane;
}

template <class T>
void copy_rows(const Plane& p, const T* in, T* out, int64_t row_begin, int64_t row_end) {
  const int r = p.rank - 2, c = p.rank - 1;
  const int64_t columns = p.dims[c], in_step = p.in[c], out_step = p.out[c];
  for (int64_t row = row_begin; row < row_end; ++row) {
    const T* from = in + row * p.in[r];
    T* to = out + row * p.out[r];
    if (in_step == 1 && out_step == 1) {
      std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(T));
    } else if (in_step == 0 && out_step == 1) {
      std::fill(to, to + columns, *from);
    } else {
      for (int64_t i = 0; i < columns; ++i) to[i * out_step] = from[i * in_step];
    }
  }
}

inline constexpr int64_t kTile = 32;

// Both sides of a 32 x 32 tile fit the first cache level, so a transpose reads and writes whole lines.
template <class T>
void copy_tiles(const Plane& p, const T* in, T* out, int64_t row_begin, int64_t row_end) {
  const int r = p.rank - 2, c = p.rank - 1;
  for (int64_t row0 = row_begin; row0 < row_end; row0 += kTile) {
    for (int64_t column0 = 0; column0 < p.dims[c]; column0 += kTile) {
      const int64_t rows = std::min(kTile, row_end - row0), columns = std::min(kTile, p.dims[c] - column0);
      for (int64_t i = 0; i < rows; ++i) {
        const T* from = in + (row0 + i) * p.in[r] + column0 * p.in[c];
        T* to = out + (row0 + i) * p.out[r] + column0 * p.out[c];
        for (int64_t j = 0; j < columns; ++j) to[j * p.out[c]] = from[j * p.in[c]];
      }
    }
  }
}

template <class T>
void copy_typed(const CopyArgs& args, const LaunchContext& context) {
  const Plane plane = merge_axes(args);
  const int r = plane.rank - 2;
  int64_t outer = 1;
  for (int axis = 0; axis < r; ++axis) outer *= plane.dims[axis];
  const bool swaps = std::abs(plane.in[r]) < std::abs(plane.in[r + 1]) && plane.in[r] != 0;
  // An item is kTile rows of one plane, so that tiles stay whole whatever the pieces.
  const int64_t bands = (plane.dims[r] + kTile - 1) / kTile;
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / (kTile * plane.dims[r + 1]));
  context.parallel_for(outer * bands, grain, [&](int64_t begin, int64_t end) {
    StridedWalk<2> walk(plane.dims, r, {plane.in, plane.out}, begin / bands);
    for (int64_t item = begin; item < end;) {
      const int64_t band = item % bands, band_end = std::min(bands, band + end - item);
      const T* in = static_cast<const T*>(args.in.data) + walk.offset(0);
      T* out = static_cast<T*>(args.out.data) + walk.offset(1);
      const int64_t row_end = std::min(plane.dims[r], band_end * kTile);
      swaps ? copy_tiles(plane, in, out, band * kTile, row_end)
            : copy_rows(plane, in, out, band * kTile, row_end);
      item += band_end - band;
      walk.next();
    }
  });
}

}  // namespace

extern constinit const KernelRow copy_strided_cpu_row = {
    .name = "copy_strided_cpu",
    .operands = kCopyOperands,
    .args_size = sizeof(CopyArgs),
    .args = kCopyArgs,
    .check = check_copy,
    .summary = "any strides to any strides: runs copied whole, transposes by tiles",
};

void copy_strided_cpu(const void* raw, const LaunchContext& context) {
  const CopyArgs& args = *static_cast<const CopyArgs*>(raw);
  if (element_count(args.out) == 0) return;
  switch (bits_of(args.in.dtype)) {
    case 8:
      return copy_typed<uint8_t>(args, context);
    case 16:
      return copy_typed<uint16_t>(args, context);
    case 32:
      return copy_typed<uint32_t>(args, context);
    default:
      return copy_typed<uint64_t>(args, context);
  }
}

}  // namespace ge::kernels
