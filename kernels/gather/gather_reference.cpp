// gather_reference: element by element. Entry: gather_reference.
#include <cstring>

#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/gather/gather_row.h"

namespace ge::kernels {

Status check_gather(const LaunchShape& shape) {
  const TensorView &data = shape.operands[0], &indices = shape.operands[1], &out = shape.operands[2];
  const int64_t axis = attr_int(shape.attrs, "axis", 0);
  GE_TRY(check_axis(axis, data.rank));
  GE_TRY(check_same_dtype(data, "data", out, "out"));
  if (attr_int(shape.attrs, "elements", 0) != 0) {
    GE_TRY(check_same_dims(indices, "indices", out, "out"));
    GE_TRY(check_within(indices, "indices", data, "data", static_cast<int>(axis)));
    return check_writable(out, "out");
  }
  if (out.rank != data.rank - 1 + indices.rank) {
    return refuse("out has rank " + std::to_string(out.rank) + ", expected " +
                  std::to_string(data.rank - 1 + indices.rank));
  }
  for (int i = 0; i < out.rank; ++i) {
    const int64_t q = i - axis;
    const int64_t expected = q < 0              ? data.dims[i]
                             : q < indices.rank ? indices.dims[q]
                                                : data.dims[i - indices.rank + 1];
    GE_TRY(check_dim(out.dims[i], expected, "out's axis " + std::to_string(i)));
  }
  return check_writable(out, "out");
}

namespace {

// data's and indices' strides spread over out's axes, so that one walk over out gives both offsets.
struct SpreadStrides {
  int64_t data[kMaxRank] = {}, indices[kMaxRank] = {};
  explicit SpreadStrides(const GatherArgs& args) {
    for (int i = 0; i < args.out.rank; ++i) {
      if (args.elements != 0) {
        indices[i] = args.indices.strides[i];
        data[i] = i == args.axis ? 0 : args.data.strides[i];
        continue;
      }
      const int64_t q = i - args.axis;
      if (q >= 0 && q < args.indices.rank) {
        indices[i] = args.indices.strides[q];
      } else {
        data[i] = args.data.strides[q < 0 ? i : i - args.indices.rank + 1];
      }
    }
  }
};

void gather_range(const GatherArgs& args, const SpreadStrides& spread, const LaunchContext& context,
                  int64_t begin, int64_t end) {
  const int64_t size = bits_of(args.data.dtype) / 8;
  const int64_t extent = args.data.dims[args.axis], step = args.data.strides[args.axis];
  StridedWalk<3> walk(args.out.dims, args.out.rank, {spread.data, spread.indices, args.out.strides}, begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    const int64_t position = resolve_index(load<int64_t>(args.indices, walk.offset(1)), extent, context);
    char* to = static_cast<char*>(args.out.data) + walk.offset(2) * size;
    if (position < 0) {
      std::memset(to, 0, static_cast<size_t>(size));
    } else {
      std::memcpy(to, static_cast<const char*>(args.data.data) + (walk.offset(0) + position * step) * size,
                  static_cast<size_t>(size));
    }
  }
}

}  // namespace

extern constinit const KernelRow gather_reference_row = {
    .name = "gather_reference",
    .revision = 2,
    .operands = kGatherOperands,
    .attrs = kGatherAttrs,
    .args_size = sizeof(GatherArgs),
    .args = kGatherArgs,
    .check = check_gather,
    .efficiency = kReferenceEfficiency,
    .summary = "elements picked along an axis, one by one",
};

void gather_reference(const void* raw, const LaunchContext& context) {
  const GatherArgs& args = *static_cast<const GatherArgs*>(raw);
  const SpreadStrides spread(args);
  context.parallel_for(element_count(args.out), kReferenceGrain,
                       [&](int64_t begin, int64_t end) { gather_range(args, spread, context, begin, end); });
}

}  // namespace ge::kernels
