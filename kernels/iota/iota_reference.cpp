// iota_reference: positions along one axis. Entry: iota_reference.
#include "kernels/common/check.h"
#include "kernels/common/element.h"
#include "kernels/common/rows.h"
#include "kernels/common/strided_walk.h"
#include "kernels/iota/iota.h"
#include "kernels/launch_context.h"

namespace ge::kernels {
namespace {

Status check_iota(const LaunchShape& shape) {
  GE_TRY(check_axis(attr_int(shape.attrs, "axis", 0), shape.operands[0].rank));
  return check_writable(shape.operands[0], "out");
}

constexpr OperandRow kOperands[] = {
    {.name = "out", .role = OperandRole::kOut, .dtypes = kNumberTypes, .min_rank = 1},
};
constexpr AttrRow kAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank - 1},
    {.name = "start", .required = false},
    {.name = "step", .required = false},
};
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(IotaArgs, out), 0),
    int_arg(offsetof(IotaArgs, axis), "axis"),
    int_arg(offsetof(IotaArgs, start), "start"),
    int_arg(offsetof(IotaArgs, step), "step"),
};

}  // namespace

extern constinit const KernelRow iota_reference_row = {
    .name = "iota_reference",
    .operands = kOperands,
    .attrs = kAttrs,
    .args_size = sizeof(IotaArgs),
    .args = kArgs,
    .check = check_iota,
    .summary = "start + step * position along an axis",
};

void iota_reference(const void* raw, const LaunchContext& context) {
  const IotaArgs& args = *static_cast<const IotaArgs*>(raw);
  const int64_t step = args.step == 0 ? 1 : args.step;
  const TensorView& out = args.out;
  context.parallel_for(element_count(out), kReferenceGrain, [&](int64_t begin, int64_t end) {
    StridedWalk<1> walk(out.dims, out.rank, {out.strides}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      store(out, walk.offset(0), wrapping_add(args.start, wrapping_mul(step, walk.index(static_cast<int>(args.axis)))));
    }
  });
}

}  // namespace ge::kernels
