// Kernels on the GPU: built-in ones from embedded images, generated ones from the plan's, and library rows.
// Entry: resolve_kernel. One generic launch serves all but library rows.
#pragma once
#include <memory>

#include "runtime/cuda/image.h"
#include "runtime/device.h"
#include "runtime/plan.h"

namespace ge::cuda {

// Errors: unknown_kernel, code_not_trusted, no_target, library_missing, driver_error.
Result<std::unique_ptr<Kernel>> resolve_kernel(const Gpu& gpu, ImageCache& images, const PlanHandle& plan,
                                               const PlanKernels& kernels, uint32_t index);

}  // namespace ge::cuda
