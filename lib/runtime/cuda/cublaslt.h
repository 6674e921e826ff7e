// The library row dot_cublaslt: a matmul by cuBLASLt, prepared when it is bound. Entry: resolve_cublaslt.
// Operands lhs[..., m, k], rhs[..., k, n], bias (optional), out[..., m, n]; float16, bfloat16 or float32,
// sums in float32 (no tf32); attribute activation: 0, relu or gelu_tanh. Choice::algo: id, tile, stages,
// split-k, reduction, swizzle, custom, cluster[, inner shape]; where it is empty or does not fit this
// library, the heuristic's first.
#pragma once
#include <memory>

#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace ge::cuda {

// Errors: library_missing, driver_error, unknown_kernel for another library row.
Result<std::unique_ptr<Kernel>> resolve_cublaslt(const Gpu& gpu, const KernelDesc& desc);

}  // namespace ge::cuda
