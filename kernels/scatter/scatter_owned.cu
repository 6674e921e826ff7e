// scatter_owned_sm80: each thread owns some elements of out and is alone in writing them: it copies data to
// them, then walks the updates of its column in row-major order and applies those that are its own. No
// atomics, so the order is the reference's. A thread owns, in one column (a position on all axes but `axis`),
// every slot-th element of the axis; there are as many slots as fill the GPU. Neighbours in a warp have
// neighbouring columns, or where there is one column neighbouring elements. Time grows with updates a column
// times columns times slots; 256 threads.
#include "kernels/device/element.cuh"
#include "kernels/device/fault.cuh"
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"
#include "kernels/scatter/scatter.h"

namespace ge::kernels {

// Threads beyond this many gain nothing more.
inline constexpr int64_t kOwners = 1 << 17;

__device__ __forceinline__ double combined(ScatterKind kind, bool, double a, double b) {
  if (kind == ScatterKind::kAdd) return a + b;
  if (kind == ScatterKind::kMul) return a * b;
  if (a != a) return a;
  if (b != b) return b;
  return (kind == ScatterKind::kMax) == (a < b) ? b : a;
}
__device__ __forceinline__ int64_t combined(ScatterKind kind, bool is_unsigned, int64_t a, int64_t b) {
  if (kind == ScatterKind::kAdd) return a + b;
  if (kind == ScatterKind::kMul) return a * b;
  const bool less =
      is_unsigned ? static_cast<unsigned long long>(a) < static_cast<unsigned long long>(b) : a < b;
  return (kind == ScatterKind::kMax) == less ? b : a;
}

// Puts one update in: bytes moved where nothing is combined.
template <class T>
struct Move {
  const ScatterArgs& a;
  __device__ __forceinline__ void copy(int64_t from, int64_t to) const {
    static_cast<T*>(a.out.data)[to] = static_cast<const T*>(a.data.data)[from];
  }
  __device__ __forceinline__ void apply(int64_t from, int64_t to) const {
    static_cast<T*>(a.out.data)[to] = static_cast<const T*>(a.updates.data)[from];
  }
};
// T: double or int64_t.
template <class T>
struct Combine {
  const ScatterArgs& a;
  __device__ __forceinline__ void copy(int64_t from, int64_t to) const {
    store_element(a.out, to, load_element<T>(a.data, from));
  }
  __device__ __forceinline__ void apply(int64_t from, int64_t to) const {
    const T now = load_element<T>(a.out, to), update = load_element<T>(a.updates, from);
    const bool is_unsigned = a.out.dtype == DType::uint64;
    store_element(a.out, to, combined(static_cast<ScatterKind>(a.kind), is_unsigned, now, update));
  }
};

// Where a column starts in each operand; `inside` where updates reach it.
struct Column {
  int64_t data = 0, out = 0, updates = 0, indices = 0;
  bool inside = true;
};

__device__ __forceinline__ Column column_at(const ScatterArgs& a, int64_t number) {
  Column c;
  const int axis = static_cast<int>(a.axis);
  const int wide = a.elements != 0 ? 1 : a.indices.rank;
  for (int i = a.out.rank - 1; i >= 0; --i) {
    if (i == axis) continue;
    const int64_t at = split(number, a.out.dims[i]);
    const int u = i < axis ? i : i + wide - 1;
    c.data += at * a.data.strides[i];
    c.out += at * a.out.strides[i];
    c.updates += at * a.updates.strides[u];
    if (a.elements != 0) {
      c.indices += at * a.indices.strides[i];
      c.inside = c.inside && at < a.indices.dims[i];
    }
  }
  return c;
}

template <class Put>
__device__ void scatter_owned(const ScatterArgs& a) {
  const Put put{a};
  const int axis = static_cast<int>(a.axis), wide = a.elements != 0 ? 1 : a.indices.rank;
  const int64_t extent = a.out.dims[axis], total = count_of(a.out.dims, a.out.rank);
  if (total == 0) {  // an index of an empty axis is out of range, as in the reference
    if (extent == 0 && grid_begin() == 0 && count_of(a.updates.dims, a.updates.rank) > 0)
      note_fault(a.device_block, FaultKind::kIndexOutOfRange, a.launch, load_integer(a.indices, 0));
    return;
  }
  const int64_t columns = total / extent;
  int64_t slots = 1;
  while (slots < extent && slots * columns < kOwners) slots *= 2;
  const int64_t steps = count_of(a.updates.dims + axis, wide);
  for (int64_t item = grid_begin(); item < columns * slots; item += grid_step()) {
    int64_t slot = item;
    const int64_t number = split(slot, columns);  // slot is now the quotient
    const Column c = column_at(a, number);
    for (int64_t i = slot; i < extent; i += slots)
      put.copy(c.data + i * a.data.strides[axis], c.out + i * a.out.strides[axis]);
    if (!c.inside) continue;
    for (int64_t j = 0; j < steps; ++j) {
      int64_t rest = j, from = c.updates, which = c.indices;
      for (int k = wide - 1; k >= 0; --k) {
        const int64_t at = k == 0 ? rest : split(rest, a.updates.dims[axis + k]);
        from += at * a.updates.strides[axis + k];
        which += at * (a.elements != 0 ? a.indices.strides[axis] : a.indices.strides[k]);
      }
      const int64_t index = load_integer(a.indices, which);
      int64_t position = index < 0 ? index + extent : index;
      if (position < 0 || position >= extent) {
        if (slot == 0) note_fault(a.device_block, FaultKind::kIndexOutOfRange, a.launch, index);
        position = position < 0 ? 0 : extent - 1;
      }
      if ((position & (slots - 1)) == slot) put.apply(from, c.out + position * a.out.strides[axis]);
    }
  }
}

}  // namespace ge::kernels

extern "C" __global__ void __launch_bounds__(256)
    ge_scatter_owned(const __grid_constant__ ge::kernels::ScatterArgs args) {
  using namespace ge::kernels;
  if (args.kind == static_cast<int64_t>(ScatterKind::kNone))
    with_size(args.out.dtype, [&](auto zero) { scatter_owned<Move<decltype(zero)>>(args); });
  else if (is_real(args.out.dtype))
    scatter_owned<Combine<double>>(args);
  else
    scatter_owned<Combine<int64_t>>(args);
}
