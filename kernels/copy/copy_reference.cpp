// copy_reference: element by element. Entry: copy_reference.
#include <cstring>

#include "kernels/common/strided_walk.h"
#include "kernels/copy/copy_row.h"
#include "kernels/launch_context.h"

namespace ge::kernels {

extern constinit const KernelRow copy_reference_row = {
    .name = "copy_reference",
    .operands = kCopyOperands,
    .args_size = sizeof(CopyArgs),
    .args = kCopyArgs,
    .check = check_copy,
    .efficiency = kReferenceEfficiency,
    .summary = "any strides to any strides, element by element",
};

void copy_reference(const void* raw, const LaunchContext& context) {
  const CopyArgs& args = *static_cast<const CopyArgs*>(raw);
  const int64_t size = bits_of(args.in.dtype) / 8;
  context.parallel_for(element_count(args.out), kReferenceGrain, [&](int64_t begin, int64_t end) {
    StridedWalk<2> walk(args.out.dims, args.out.rank, {args.in.strides, args.out.strides}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      std::memcpy(static_cast<char*>(args.out.data) + walk.offset(1) * size,
                  static_cast<const char*>(args.in.data) + walk.offset(0) * size, static_cast<size_t>(size));
    }
  });
}

}  // namespace ge::kernels
