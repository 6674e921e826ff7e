// Copy and Fill steps on the CPU, on all threads. Entry: make_copy, make_fill. Views are dense: bind()
// refuses others.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace ge::cpu {

// Same dims and dtype; the views do not overlap.
std::unique_ptr<DeviceStep> make_copy(const TensorView& from, const TensorView& to);
// Every element gets the low bits of `bits`.
std::unique_ptr<DeviceStep> make_fill(const TensorView& to, uint64_t bits);

}  // namespace ge::cpu
