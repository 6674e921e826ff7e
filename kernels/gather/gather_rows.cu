// gather_rows_sm80: out[i, :] = data[indices[i], :], one thread 16 bytes of a row; data, indices and out are
// dense, rows are multiples of 16 bytes at addresses that are. 256 threads. Its code is short: a model looks
// its words up once a run, and by then the code has left the caches (gather_elements_sm80's way through 64 KB
// of code took 10 us for 512 rows of 1536 bytes).
#include "kernels/device/dependent_launch.cuh"
#include "kernels/device/fault.cuh"
#include "kernels/device/index.cuh"
#include "kernels/device/sized.cuh"
#include "kernels/gather/gather_rows.h"

extern "C" __global__ void __launch_bounds__(256)
    ge_gather_rows(const __grid_constant__ ge::kernels::GatherRowsArgs args) {
  using namespace ge;
  using namespace ge::kernels;
  launch_dependents();
  // The check keeps all vectors under 2^31.
  const unsigned width = static_cast<unsigned>(args.length * size_of_element(args.data.dtype) / 16);
  const int64_t total = args.rows * width;
  const int64_t extent = args.data.dims[0];
  const bool wide = args.indices.dtype == DType::int64;
  wait_for_predecessor();
#pragma unroll 1
  for (int64_t i = grid_begin(); i < total; i += grid_step()) {
    const unsigned row = static_cast<unsigned>(i) / width, at = static_cast<unsigned>(i) - row * width;
    const int64_t index = wide ? static_cast<const int64_t*>(args.indices.data)[row]
                               : int64_t{static_cast<const int*>(args.indices.data)[row]};
    int64_t position = index < 0 ? index + extent : index;
    if (position < 0 || position >= extent) {
      note_fault(args.device_block, FaultKind::kIndexOutOfRange, args.launch, index);
      position = position < 0 ? 0 : extent - 1;
    }
    uint4 value = {0, 0, 0, 0};
    if (extent != 0) value = static_cast<const uint4*>(args.data.data)[position * width + at];
    static_cast<uint4*>(args.out)[i] = value;
  }
}
