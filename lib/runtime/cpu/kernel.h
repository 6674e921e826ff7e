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

// dot_blocked_f32, on oneDNN where that is here. launch_refused for other element types.
Result<std::unique_ptr<Kernel>> resolve_product(DType dtype);

}  // namespace ge::cpu
