// What the files of methods share. Invariant: every method ends with finish_method, which names the kernel
// after its text.
#pragma once
#include "compiler/codegen/cuda_kernel.h"
#include "compiler/codegen/cuda_methods.h"

namespace ge {

inline CudaGroup group_of(std::vector<int> axes, std::string linear) {
  return {.axes = std::move(axes), .linear = std::move(linear)};
}
// Domain axes of some merged axes, as grid terms; neighbours share one.
void add_grid_terms(const CudaDomain& domain, const std::vector<int>& axes, int64_t per_block,
                    LoopGrid& grid);
// Names the kernel after its text and describes it. `vectors`: null where the method has none. `blocks`: of
// which a multiprocessor shall have room for so many.
CudaLoopVariant finish_method(CudaKernel& kernel, std::string method, int threads_x, int threads_y,
                              const CudaVectors* vectors, int blocks = 1);

}  // namespace ge
