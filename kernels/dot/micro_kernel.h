// The register tile of the blocked products: c[i][j] (+)= sum_k a[i][k] * b[k][j], one version an instruction
// set. Entry: best_micro_kernel. Each c is one chain of multiply-adds with k ascending, so its bits depend on
// nothing but k's range.
#pragma once
#include <cstdint>

namespace ge::kernels {

inline constexpr int kDepthBlock = 256;  // k is cut into blocks of this; a block's sum is then added to c
inline constexpr int kRowStride =
    kDepthBlock + 16;  // floats between rows of packed a: no power of two, so rows spread over cache sets
inline constexpr int kMaxMicroRows = 14, kMaxMicroColumns = 32;

// a: rows of kRowStride floats. b: `depth` rows of at least kernel.columns floats, ldb apart. accumulate: add
// to c, else set it.
using MicroFunction = void (*)(int64_t depth, const float* a, const float* b, int64_t ldb, float* c,
                               int64_t ldc, bool accumulate);
// out[j * ld_out + i] = in[i * ld_in + j] for i < rows, j < columns.
using TransposeFunction = void (*)(const float* in, int64_t ld_in, int64_t rows, int64_t columns, float* out,
                                   int64_t ld_out);

// out[r * out_step + i] = in[r * in_step + i * stride] for i < count, r < runs; count at most
// kMaxMicroColumns. Touches no other element.
using CopyRunsFunction = void (*)(const float* in, int64_t stride, int64_t in_step, int64_t count,
                                  int64_t runs, float* out, int64_t out_step);

struct MicroKernel {
  int rows = 0, columns = 0;               // of a full register tile
  MicroFunction run[kMaxMicroRows + 1]{};  // by row count, 1 .. rows
  TransposeFunction transpose = nullptr;
  CopyRunsFunction copy_runs = nullptr;
};

extern const MicroKernel kMicroKernelV2;  // any machine, 16-byte vectors
#if defined(__x86_64__)
extern const MicroKernel kMicroKernelV3;  // AVX2 and FMA
extern const MicroKernel kMicroKernelV4;  // AVX-512
#endif
const MicroKernel& best_micro_kernel();  // asks the machine once

}  // namespace ge::kernels
