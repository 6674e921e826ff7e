// Inner loops of the bytecode interpreter, as tables of functions over arrays: one table per instruction set,
// made from the same source (loop_kernels_body.h). Entry: loop_kernels. Invariant: every table gives the same
// bits (no contraction, fixed lane order in reductions), so a plan's results do not depend on the machine's
// vector width.
#pragma once
#include <cstddef>
#include <cstdint>

#include "numeric/dtype.h"

namespace ge::cpu {

enum class LoopIsa : uint8_t { kBest, kBase, kV3, kV4 };  // x86-64-v3 and -v4; kBase runs anywhere

inline constexpr int kLoopTypes = 6;  // register types in the order of type_index
inline constexpr int kMapCodes = 96;  // codes of scalar_ops.def are below it
inline constexpr int kReduceOps = 6;  // LoopOp::kReduceSum .. kReduceArgMin

constexpr int type_index(DType t) {
  switch (t) {
    case DType::float32:
      return 0;
    case DType::float64:
      return 1;
    case DType::int32:
      return 2;
    case DType::int64:
      return 3;
    case DType::uint64:
      return 5;
    default:
      return 4;  // boolean: a byte that is 0 or 1
  }
}

// dst[i] = op(a[i], b[i], c[i]); an operand in the function's scalar mask (bit 0: a, 1: b, 2: c) is one value
// instead.
using MapFunction = void (*)(void* dst, const void* a, const void* b, const void* c, int64_t count);

// Folds a slow x fast block into accumulators. Along rows: accumulator s takes block[s][0..fast). Along
// columns: accumulator f takes block[0..slow)[f]. `base` is the block's first position in the row (for arg
// reductions).
using ReduceFunction = void (*)(const void* block, int64_t slow, int64_t fast, int64_t base,
                                void* accumulators);
struct ReduceKernels {
  int32_t accumulator_bytes = 0;  // of one; 0: no such reduction for the type
  void (*start)(void* accumulators, int64_t count) = nullptr;
  ReduceFunction along_rows = nullptr, along_columns = nullptr;
  void (*finish)(const void* accumulators, int64_t count, void* dst) = nullptr;
};

struct LoopKernels {
  MapFunction map[kMapCodes][kLoopTypes][8];        // [code][operand type][scalar mask]; null: not there
  ReduceKernels reduce[kReduceOps][kLoopTypes][2];  // [op][type][1: the last of equals]
  void (*stream_copy)(void* dst, const void* src,
                      int64_t size_bytes);  // past the caches; fence with stream_fence
  void (*stream_fence)();
  const char* name;
};

// The table for `isa`, or for the best the machine has where it lacks that one.
const LoopKernels& loop_kernels(LoopIsa isa);
// One per compiled file.
const LoopKernels& loop_kernels_base();
const LoopKernels& loop_kernels_v3();
const LoopKernels& loop_kernels_v4();

}  // namespace ge::cpu
