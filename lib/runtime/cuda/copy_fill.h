// Copy and Fill steps on the GPU, by the driver's own copy and set calls. Entry: make_copy, make_fill.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace ge::cuda {

// Same dims and dtype. launch_refused where either view is not dense: the compiler makes a kernel of those.
Result<std::unique_ptr<DeviceStep>> make_copy(const TensorView& from, const TensorView& to);
// Dense views. Every element gets the low bits of `bits`.
Result<std::unique_ptr<DeviceStep>> make_fill(const TensorView& to, uint64_t bits);

}  // namespace ge::cuda
