// cast_reference: any type to any type, rounded once. Entry: cast_reference.
// 4-bit types only as the input, where it must be dense (two elements share a byte).
#include "kernels/cast/cast.h"
#include "kernels/common/check.h"
#include "kernels/common/element.h"
#include "kernels/common/rows.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"

namespace ge::kernels {
namespace {

constexpr DTypeSet kNibbles{DType::int4, DType::uint4};

Status check_cast(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &out = shape.operands[1];
  GE_TRY(check_same_dims(in, "in", out, "out"));
  if (kNibbles.contains(in.dtype) && !is_contiguous(in)) return refuse("in is 4-bit, but not dense");
  return check_writable(out, "out");
}

// Of a type of whole bytes.
const char* element_address(const TensorView& view, int64_t offset) {
  return static_cast<const char*>(view.data) + offset * (bits_of(view.dtype) / 8);
}

void cast_range(const CastArgs& args, int64_t begin, int64_t end) {
  const TensorView &in = args.in, &out = args.out;
  const bool nibbles = bits_of(in.dtype) < 8;
  StridedWalk<2> walk(out.dims, out.rank, {in.strides, out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    char* to = const_cast<char*>(element_address(out, walk.offset(1)));
    if (nibbles) {
      store_from_int64(out.dtype, to, 0, load_as_int64(in.dtype, in.data, walk.offset(0)));
    } else {
      convert(in.dtype, element_address(in, walk.offset(0)), 1, out.dtype, to);
    }
  }
}

constexpr OperandRow kOperands[] = {
    {.name = "in", .dtypes = kAllTypes | kNibbles},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes},
};
constexpr ArgRow kArgs[] = {view_arg(offsetof(CastArgs, in), 0), view_arg(offsetof(CastArgs, out), 1)};

}  // namespace

extern constinit const KernelRow cast_reference_row = {
    .name = "cast_reference",
    .operands = kOperands,
    .args_size = sizeof(CastArgs),
    .args = kArgs,
    .check = check_cast,
    .efficiency = kReferenceEfficiency,
    .summary = "any element type to any other, rounded once",
};

void cast_reference(const void* raw, const LaunchContext& context) {
  const CastArgs& args = *static_cast<const CastArgs*>(raw);
  if (is_contiguous(args.in) && is_contiguous(args.out) && bits_of(args.in.dtype) >= 8) {
    context.parallel_for(element_count(args.out), kReferenceGrain, [&](int64_t begin, int64_t end) {
      convert(args.in.dtype, element_address(args.in, begin), end - begin, args.out.dtype,
              const_cast<char*>(element_address(args.out, begin)));
    });
    return;
  }
  context.parallel_for(element_count(args.out), kReferenceGrain,
                       [&](int64_t begin, int64_t end) { cast_range(args, begin, end); });
}

}  // namespace ge::kernels
