// pad_reference: element by element. Entry: pad_reference.
#include <cstring>

#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/pad/pad_row.h"

namespace ge::kernels {

Status check_pad(const LaunchShape& shape) {
  const TensorView &in = shape.operands[0], &value = shape.operands[1], &out = shape.operands[2];
  if (in.rank != out.rank) return refuse("in has dims " + dims_text(in) + ", out has " + dims_text(out));
  GE_TRY(check_same_dtype(in, "in", out, "out"));
  const AttrValue* pads = find_attr(shape.attrs, "pads_begin");
  const auto* list = pads != nullptr ? std::get_if<std::vector<int64_t>>(pads) : nullptr;
  if (list == nullptr || static_cast<int>(list->size()) < in.rank)
    return refuse("pads_begin needs one entry an axis");
  const auto mode = static_cast<PadMode>(attr_int(shape.attrs, "mode", 0));
  if (!is_absent(value)) {
    GE_TRY(check_same_dtype(in, "in", value, "value"));
    GE_TRY(check_dim(element_count(value), 1, "value's element count"));
  }
  for (int i = 0; mode != PadMode::kConstant && i < in.rank; ++i) {
    if (in.dims[i] == 0 && out.dims[i] != 0)
      return refuse("axis " + std::to_string(i) + " is empty: nothing to repeat");
  }
  return check_writable(out, "out");
}

namespace {

void pad_range(const PadArgs& args, int64_t begin, int64_t end) {
  const int64_t size = bits_of(args.in.dtype) / 8;
  const char zeros[8] = {};
  const char* fill = args.value.data != nullptr ? static_cast<const char*>(args.value.data) : zeros;
  StridedWalk<1> walk(args.out.dims, args.out.rank, {args.out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    int64_t offset = 0;
    bool inside = true;
    for (int axis = 0; axis < args.in.rank; ++axis) {
      const int64_t q = source_position(walk.index(axis) - args.pads_begin[axis], args.in.dims[axis],
                                        static_cast<PadMode>(args.mode));
      inside = inside && q >= 0;
      offset += q * args.in.strides[axis];
    }
    const char* from = inside ? static_cast<const char*>(args.in.data) + offset * size : fill;
    std::memcpy(static_cast<char*>(args.out.data) + walk.offset(0) * size, from, static_cast<size_t>(size));
  }
}

}  // namespace

extern constinit const KernelRow pad_reference_row = {
    .name = "pad_reference",
    .operands = kPadOperands,
    .attrs = kPadAttrs,
    .args_size = sizeof(PadArgs),
    .args = kPadArgs,
    .check = check_pad,
    .efficiency = kReferenceEfficiency,
    .summary = "constant, reflect and edge padding",
};

void pad_reference(const void* raw, const LaunchContext& context) {
  const PadArgs& args = *static_cast<const PadArgs*>(raw);
  context.parallel_for(element_count(args.out), kReferenceGrain,
                       [&](int64_t begin, int64_t end) { pad_range(args, begin, end); });
}

}  // namespace ge::kernels
