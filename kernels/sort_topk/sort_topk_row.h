// What the sort_topk rows share: tables and the check. Entry: kSortTopkAttrs, kSortTopkArgs, check_sort_topk.
#pragma once
#include "kernels/common/check.h"
#include "kernels/common/rows.h"
#include "kernels/sort_topk/sort_topk.h"

namespace ge::kernels {

inline constexpr AttrRow kSortTopkAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank - 1},
    {.name = "largest", .min = 0, .max = 1, .required = false},
};
inline constexpr ArgRow kSortTopkArgs[] = {
    view_arg(offsetof(SortTopkArgs, in), 0),
    view_arg(offsetof(SortTopkArgs, out), 1),
    int_arg(offsetof(SortTopkArgs, axis), "axis"),
    int_arg(offsetof(SortTopkArgs, largest), "largest"),
};

inline Status check_sort_topk(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &out = shape.operands[1];
  const int64_t axis = attr_int(shape.attrs, "axis", 0);
  GE_TRY(check_axis(axis, in.rank));
  bool fits = in.rank == out.rank;
  for (int i = 0; fits && i < in.rank; ++i)
    fits = i == axis ? out.dims[i] <= in.dims[i] : out.dims[i] == in.dims[i];
  if (!fits) {
    return refuse("in has dims " + dims_text(in) + ", out has " + dims_text(out) + "; k is at most " +
                  std::to_string(in.dims[axis]) + ", the extent of axis " + std::to_string(axis));
  }
  return check_writable(out, "out");
}

}  // namespace ge::kernels
