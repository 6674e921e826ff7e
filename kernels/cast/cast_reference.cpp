// cast_reference: any type to any type, rounded once. Entry: cast_reference.
// A 4-bit out must be dense: two elements share a byte, which one thread writes.
#include <algorithm>

#include "kernels/cast/cast_row.h"
#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"

namespace ge::kernels {
namespace {

bool is_nibbles(const TensorView& view) {
  return bits_of(view.dtype) < 8;
}

}  // namespace

Status check_cast(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &out = shape.operands[1];
  GE_TRY(check_same_dims(in, "in", out, "out"));
  if (is_nibbles(out) && !is_contiguous(out)) return refuse("out is 4-bit, but not dense");
  return check_writable(out, "out");
}

namespace {

// Of a type of whole bytes.
const char* element_address(const TensorView& view, int64_t offset) {
  return static_cast<const char*>(view.data) + offset * (bits_of(view.dtype) / 8);
}

void cast_range(const CastArgs& args, int64_t begin, int64_t end) {
  const TensorView &in = args.in, &out = args.out;
  StridedWalk<2> walk(out.dims, out.rank, {in.strides, out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    char* to = const_cast<char*>(element_address(out, walk.offset(1)));
    if (is_nibbles(in)) {
      store_from_int64(out.dtype, to, 0, load_as_int64(in.dtype, in.data, walk.offset(0)));
    } else {
      convert(in.dtype, element_address(in, walk.offset(0)), 1, out.dtype, to);
    }
  }
}

// Elements 2 * [begin, end) of a dense 4-bit out: `begin` counts bytes.
void pack_range(const CastArgs& args, int64_t begin, int64_t end) {
  const TensorView &in = args.in, &out = args.out;
  const int64_t last = std::min(2 * end, element_count(out));
  StridedWalk<1> walk(in.dims, in.rank, {in.strides}, 2 * begin);
  if (begin < end) static_cast<uint8_t*>(out.data)[end - 1] = 0;  // an odd count leaves half a byte
  for (int64_t i = 2 * begin; i < last; ++i, walk.next()) {
    if (is_float(in.dtype))
      store_from_double(out.dtype, out.data, i, load_as_double(in.dtype, in.data, walk.offset(0)));
    else
      store_from_int64(out.dtype, out.data, i, load_as_int64(in.dtype, in.data, walk.offset(0)));
  }
}

}  // namespace

extern constinit const KernelRow cast_reference_row = {
    .name = "cast_reference",
    .revision = 2,
    .operands = kCastOperands,
    .args_size = sizeof(CastArgs),
    .args = kCastArgs,
    .check = check_cast,
    .efficiency = kReferenceEfficiency,
    .summary = "any element type to any other, rounded once",
};

void cast_reference(const void* raw, const LaunchContext& context) {
  const CastArgs& args = *static_cast<const CastArgs*>(raw);
  if (is_nibbles(args.out)) {
    context.parallel_for((element_count(args.out) + 1) / 2, kReferenceGrain,
                         [&](int64_t begin, int64_t end) { pack_range(args, begin, end); });
    return;
  }
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
