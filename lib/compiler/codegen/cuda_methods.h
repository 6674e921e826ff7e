// Ways to run a loop on a GPU: each prints one kernel. Entry: one function per method. Precondition of all: a
// verified program.
// * flat: a thread takes chunks of neighbouring elements (no rows).
//
// * transpose: 32 x 32 tiles through shared memory (no rows; an input is contiguous along another axis).
//
// * row_held, row_across: 1 .. 1024 threads take a row, or several one after another; each element is kept in
//   registers: read once, written once, exact in two passes. row_across reads vectors over the rows' ends.
//
// * row_reread: a block takes a row of any length and reads it again in each sweep.
//
// * columns: threads along a contiguous outer axis, reductions over strided rows.
#pragma once
#include <optional>

#include "compiler/codegen/cuda_domain.h"
#include "compiler/codegen/cuda_text.h"

namespace ge {

// Vector width and which operands use it; the guards it needs beyond what is known.
struct CudaVectors {
  int width = 1;
  int along = 0;  // merged axis
  std::vector<bool> operands;
  std::vector<LoopGuard> guards;
  // Rows lie one behind another and their length is no multiple of the width: vectors are aligned in the
  // tensor, and the first and the last of a row may reach over its ends.
  bool across_rows = false;
};
// Of at most `width`, along the last of `axes`: halves it until the constant extents allow it.
CudaVectors choose_vectors(const CudaDomain& domain, const std::vector<int>& axes, int width);
// The same across rows; width 1 where the operands, or the row, do not allow it.
CudaVectors choose_vectors_across_rows(const CudaDomain& domain, int width);
int widest_vector(const CudaDomain& domain, const std::vector<int>& axes);

CudaLoopVariant print_flat(const CudaDomain& domain, const CudaVectors& vectors, int chunks);
// `across`: the axis along which inputs are contiguous.
CudaLoopVariant print_transpose(const CudaDomain& domain, int across);
// How a row is shared out: `threads` of `chunks` vectors each take it; each group of threads takes `rows`
// rows one after another, and reads what is the same for all of them once. Registers are to suffice for
// `warps` of a multiprocessor (0: whatever they do).
struct RowShape {
  int threads = 1, chunks = 1, rows = 1, warps = 0;
};
inline constexpr int kWarpBlock = 128;        // threads of a block whose rows take a warp or less
inline constexpr int kHeldRegisters = 64;     // of a thread, for its elements
inline constexpr int64_t kFewRows = 4096;     // which leave a GPU idle
int most_elements(const CudaDomain& domain);  // of a thread, by the length of their code: a power of two
int elements_per_thread(const CudaDomain& domain);  // of a row, that a thread may hold
// Of rows of up to `most` elements; none where they do not fit registers.
std::optional<RowShape> held_shape(const CudaDomain& domain, const CudaVectors& vectors, int64_t most);
CudaLoopVariant print_row_held(const CudaDomain& domain, const CudaVectors& vectors, const RowShape& shape);
CudaLoopVariant print_row_reread(const CudaDomain& domain, const CudaVectors& vectors, int threads);
// `lanes`: the contiguous outer axis.
CudaLoopVariant print_columns(const CudaDomain& domain, int lanes);

}  // namespace ge
