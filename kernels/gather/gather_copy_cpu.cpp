// gather_copy_cpu: gathers whole rows with memcpy where the axes after `axis` are dense in data and out;
// anything else runs as gather_reference does. Entry: gather_copy_cpu.
#include <cstring>

#include "kernels/common/element.h"
#include "kernels/common/strided_walk.h"
#include "kernels/gather/gather_row.h"

namespace ge::kernels {

void gather_reference(const void* raw, const LaunchContext& context);

namespace {

// Elements of data's axes after `axis` where they are one dense run in both data and out, or 0 where they are
// not.
int64_t dense_run(const GatherArgs& args) {
  if (args.elements != 0) return 0;
  int64_t run = 1;
  for (int i = args.data.rank - 1; i > args.axis; --i) {
    if (args.data.dims[i] != 1 &&
        (args.data.strides[i] != run || args.out.strides[i - 1 + args.indices.rank] != run))
      return 0;
    run *= args.data.dims[i];
  }
  return run;
}

}  // namespace

extern constinit const KernelRow gather_copy_cpu_row = {
    .name = "gather_copy_cpu",
    .revision = 2,
    .operands = kGatherOperands,
    .attrs = kGatherAttrs,
    .args_size = sizeof(GatherArgs),
    .args = kGatherArgs,
    .check = check_gather,
    .summary = "rows picked along an axis, copied whole",
};

void gather_copy_cpu(const void* raw, const LaunchContext& context) {
  const GatherArgs& args = *static_cast<const GatherArgs*>(raw);
  const int64_t run = dense_run(args);
  if (run == 0) return gather_reference(raw, context);
  const int rank = static_cast<int>(args.axis) + args.indices.rank;
  int64_t data_strides[kMaxRank] = {}, index_strides[kMaxRank] = {}, rows = 1;
  for (int i = 0; i < rank; ++i) {
    if (i < args.axis)
      data_strides[i] = args.data.strides[i];
    else
      index_strides[i] = args.indices.strides[i - args.axis];
    rows *= args.out.dims[i];
  }
  const int64_t size = bits_of(args.data.dtype) / 8;
  const int64_t extent = args.data.dims[args.axis], step = args.data.strides[args.axis];
  context.parallel_for(rows, grain_for(run * size / 16), [&](int64_t begin, int64_t end) {
    StridedWalk<3> walk(args.out.dims, rank, {data_strides, index_strides, args.out.strides}, begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      const int64_t position = resolve_index(load<int64_t>(args.indices, walk.offset(1)), extent, context);
      char* to = static_cast<char*>(args.out.data) + walk.offset(2) * size;
      const char* from = static_cast<const char*>(args.data.data) + (walk.offset(0) + position * step) * size;
      if (position < 0)
        std::memset(to, 0, static_cast<size_t>(run * size));
      else
        std::memcpy(to, from, static_cast<size_t>(run * size));
    }
  });
}

}  // namespace ge::kernels
