// iota_reference: positions along one axis. Entry: iota_reference.
#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/iota/iota_row.h"
#include "kernels/launch_context.h"

namespace ge::kernels {
extern constinit const KernelRow iota_reference_row = {
    .name = "iota_reference",
    .operands = kIotaOperands,
    .attrs = kIotaAttrs,
    .args_size = sizeof(IotaArgs),
    .args = kIotaArgs,
    .check = check_iota,
    .efficiency = kReferenceEfficiency,
    .summary = "start + step * position along an axis",
};

void iota_reference(const void* raw, const LaunchContext& context) {
  const IotaArgs& args = *static_cast<const IotaArgs*>(raw);
  const int64_t step = args.step == 0 ? 1 : args.step;
  const TensorView& out = args.out;
  context.parallel_for(element_count(out), kReferenceGrain, [&](int64_t begin, int64_t end) {
    StridedWalk<1> walk(out.dims, out.rank, {out.strides}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      store(out, walk.offset(0),
            wrapping_add(args.start, wrapping_mul(step, walk.index(static_cast<int>(args.axis)))));
    }
  });
}

}  // namespace ge::kernels
