// Kernels on the CPU: built-in functions of (args, context), and generated loops run from bytecode.
// Entry: resolve_kernel.
#pragma once
#include <memory>

#include "runtime/device.h"
#include "runtime/plan.h"

namespace ge::cpu {

// Errors: unknown_kernel.
Result<std::unique_ptr<Kernel>> resolve_kernel(const PlanHandle& plan, const PlanKernels& kernels,
                                               uint32_t index);

}  // namespace ge::cpu
