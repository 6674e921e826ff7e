// sort_topk_reference: keys of a column in scratch, the first k sorted; columns on all threads. Entry:
// sort_topk_reference.
#include <algorithm>
#include <bit>

#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/sort_topk/sort_topk_row.h"

namespace ge::kernels {
namespace {

struct Entry {
  uint64_t key;
  int64_t position;
};

constexpr uint64_t kSign = uint64_t{1} << 63;

// A number that orders as the element does: unsigned, NaN greatest, both zeros one.
uint64_t key_of(const TensorView& view, int64_t offset) {
  if (is_float(view.dtype)) {
    const double value = load<double>(view, offset);
    if (value != value) return UINT64_MAX;
    const auto bits = std::bit_cast<uint64_t>(value + 0.0);  // -0 + 0 is 0
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }
  const auto bits = static_cast<uint64_t>(load<int64_t>(view, offset));
  return class_of(view.dtype) == DTypeClass::kSigned ? bits ^ kSign : bits;
}

void sort_column(const SortTopkArgs& a, Entry* entries, int64_t from, int64_t to) {
  const int64_t extent = a.in.dims[a.axis], k = a.out.dims[a.axis];
  for (int64_t i = 0; i < extent; ++i) {
    const uint64_t key = key_of(a.in, from + i * a.in.strides[a.axis]);
    entries[i] = {a.largest != 0 ? ~key : key, i};
  }
  const auto before = [](const Entry& x, const Entry& y) {
    return x.key != y.key ? x.key < y.key : x.position < y.position;
  };
  if (k < extent) std::nth_element(entries, entries + k, entries + extent, before);
  std::sort(entries, entries + k, before);
  for (int64_t i = 0; i < k; ++i) store(a.out, to + i * a.out.strides[a.axis], entries[i].position);
}

constexpr OperandRow kOperands[] = {
    {.name = "in", .dtypes = kAllTypes, .min_rank = 1},
    {.name = "out", .role = OperandRole::kOut, .dtypes = {DType::int64}, .min_rank = 1},
};

}  // namespace

extern constinit const KernelRow sort_topk_reference_row = {
    .name = "sort_topk_reference",
    .operands = kOperands,
    .attrs = kSortTopkAttrs,
    .args_size = sizeof(SortTopkArgs),
    .args = kSortTopkArgs,
    .check = check_sort_topk,
    .summary = "positions of the k best along an axis",
};

void sort_topk_reference(const void* raw, const LaunchContext& context) {
  const SortTopkArgs& args = *static_cast<const SortTopkArgs*>(raw);
  const int64_t total = element_count(args.out);
  if (total == 0) return;
  const int64_t extent = args.in.dims[args.axis];
  int64_t dims[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) dims[i] = i == args.axis ? 1 : args.in.dims[i];
  const int64_t columns = total / args.out.dims[args.axis];
  context.parallel_for(columns, grain_for(extent * 8), [&](int64_t begin, int64_t end) {
    auto* entries =
        reinterpret_cast<Entry*>(context.scratch(context.pool, static_cast<size_t>(extent) * sizeof(Entry)));
    StridedWalk<2> walk(dims, args.in.rank, {args.in.strides, args.out.strides}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next())
      sort_column(args, entries, walk.offset(0), walk.offset(1));
  });
}

}  // namespace ge::kernels
