// How rows that stay in registers are shared out: held_shape of cuda_methods.h. The numbers here are
// occupancy and register figures of sm_80 to sm_90, and readings on an H200.
#include <algorithm>
#include <bit>

#include "compiler/codegen/cuda_kernel.h"
#include "compiler/codegen/cuda_methods.h"
#include "compiler/codegen/loop_code.h"
#include "kernels/loop/loop_uses.h"

namespace ge {
namespace {

constexpr int kMostThreads = 1024;  // of a block
constexpr int kManyThreads = 512;   // beyond which a multiprocessor has one block only
// Accesses in flight that hide memory's latency where a warp holds several rows: of 16 bytes, or more of
// less.
constexpr int kLaneChunks = 4;
// Vectors in a row that a warp does not hold, up to which few rows have a thread for each: what a thread does
// one after the other is what they take. BERT-base of 1024 rows on an H200 took 622 us, 626 by two a thread.
constexpr int64_t kSpreadVectors = 512;
// A row that ends just behind what a warp may hold is left to it where vectors are narrow, with an eighth
// more for each lane: softmax of 1031 float16 columns took 82 us by two warps, 69 by one (float32 by fours:
// 68, 70).
constexpr int kMoreForAWarp = 8;
constexpr int kScalarShare = 4;  // of what a thread may hold, where a block takes a row one element at a time
constexpr int kLaneBytes = 64;   // of a row, read side by side: softmax of 64 float16 columns 71 us, 81 by 32
// Where a group of threads takes several rows: how many, the warps that must be left, what an element's
// values may take of a thread's registers, the most threads of a row, the warps that registers shall suffice
// for (norm of 2049 float16 columns: 117 us with 24, 128 with 18), and the shared memory that may be filled.
constexpr int kLoopRows = 8, kLoopWarps = 132 * 32, kRowsRegisters = 52, kRowsThreads = 384, kRowsWarps = 24;
constexpr int64_t kRowsShared = 46 * 1024;

int power_of_two_at_least(int64_t n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

// What a row costs its threads beside its elements, in instructions: positions, and the reductions over lanes
// or warps. Elements: what they are computed with.
struct RowCost {
  int element = 0, reductions = 0;
  explicit RowCost(const LoopProgram& p) {
    const auto needed = needed_registers(p);
    for (size_t r = 0; r < p.code.size(); ++r) {
      const LoopInstruction& c = p.code[r];
      if (!needed[r]) continue;
      reductions += is_reduction(c.op);
      if (c.element) element += is_costly(c.op) ? kCostly : 1;
    }
  }
  int64_t of(int threads, int64_t elements_each) const {
    const int lanes = threads < 32 ? threads : 32, warps = (threads + 31) / 32;
    const int joins = 2 * (std::bit_width(static_cast<unsigned>(lanes - 1)) +
                           std::bit_width(static_cast<unsigned>(warps - 1)) + (warps > 1 ? kBarrier : 0));
    return threads * (elements_each * element + kRowStart + int64_t{reductions} * joins);
  }
  static constexpr int kCostly = 10, kBarrier = 6, kRowStart = 20;
};

// Threads and vectors of each, for rows of `vectors_in_row`: the cheapest that hold at most `chunks_most`, of
// one warp or of whole warps; no threads: a row does not fit.
RowShape shape_of(const CudaDomain& domain, const CudaVectors& vectors, int64_t vectors_in_row,
                  int chunks_most, bool few_rows) {
  RowShape shape{.threads = 0};
  if (vectors_in_row > int64_t{kMostThreads} * chunks_most) return shape;
  const auto chunks_of = [&](int threads) {
    return static_cast<int>((vectors_in_row + threads - 1) / threads);
  };
  const int more = vectors.width <= 2 ? chunks_most / kMoreForAWarp : 0;
  if (vectors_in_row <= int64_t{32} * (chunks_most + more)) {
    // Lanes of one warp: as few as keep enough loads in flight and read kLaneBytes of a row side by side.
    int bytes = 16;
    for (size_t i = 0; i < vectors.operands.size(); ++i)
      if (vectors.operands[i])
        bytes = std::min(bytes, vectors.width * bits_of(domain.program().operands[i].dtype) / 8);
    const int accesses = vectors.width > 1 ? kLaneChunks * 16 / bytes : kLaneChunks;
    const int per_lane = few_rows ? 1 : std::min(chunks_most, accesses);
    const int side_by_side = vectors.width > 1 ? kLaneBytes / bytes : 1;
    const int least = power_of_two_at_least(std::min<int64_t>(vectors_in_row, side_by_side));
    shape.threads = std::clamp(power_of_two_at_least((vectors_in_row + per_lane - 1) / per_lane),
                               std::min(least, 32), 32);
    shape.chunks = chunks_of(shape.threads);
    return shape;
  }
  if (few_rows && vectors.width > 1 && !vectors.across_rows && vectors_in_row <= kSpreadVectors) {
    shape.threads = static_cast<int>((vectors_in_row + 31) / 32 * 32);
    shape.chunks = 1;
    return shape;
  }
  const RowCost cost(domain.program());
  const auto least = static_cast<int>((vectors_in_row + 32 * chunks_most - 1) / (32 * chunks_most));
  int64_t best = INT64_MAX;
  for (int warps = least; warps <= std::min(2 * least, kMostThreads / 32); ++warps) {
    const int chunks = chunks_of(32 * warps);
    const int64_t costs = cost.of(32 * warps, int64_t{chunks} * vectors.width);
    if (costs >= best) continue;
    best = costs;
    shape.threads = 32 * warps;
    shape.chunks = chunks;
  }
  return shape;
}

// Rows that a group of threads takes one after another: only where that leaves enough groups.
int rows_each(int64_t rows, int threads) {
  return rows / kLoopRows >= kLoopWarps * 32 / threads ? kLoopRows : 1;
}

// What a thread holds of an element where it takes several rows: values, and what is read ahead. What is the
// same for every row lies in shared memory.
int held_of_rows(const CudaDomain& domain, const CudaVectors& vectors, int same) {
  const CudaKernel kernel(domain);
  const auto hold = kernel.choose_held();
  const int ahead = std::max(1, kernel.loads_in_sweep(0) - same);
  return static_cast<int>(std::count(hold.begin(), hold.end(), true)) +
         (vectors.width > 1 ? (ahead + 1) / 2 : ahead);
}

// Several rows for each group of threads, where single rows cost more than their bytes: what is the same for
// all rows lies across their vectors, is read one element at a time, or threads idle. Otherwise single rows
// leave more warps: on an H200 norms of 1024 float16 columns took 100 us, 108 by eight rows.
std::optional<RowShape> shape_of_rows(const CudaDomain& domain, const CudaVectors& vectors,
                                      int64_t vectors_in_row, const RowShape& single) {
  const bool full = int64_t{single.threads} * single.chunks * 10 < vectors_in_row * 11;
  if (vectors.width > 1 && !vectors.across_rows && full) return std::nullopt;
  const CudaKernel kernel(domain);
  int64_t bytes = 0;
  int same = 0;
  const auto every_row = kernel.loads_of_every_row();
  for (size_t r = 0; r < every_row.size(); ++r) {
    if (!every_row[r]) continue;
    ++same;
    bytes += (bits_of(domain.program().operands[domain.program().code[r].imm].dtype) + 7) / 8 * vectors.width;
  }
  if (same == 0 || !domain.count(domain.row_axes()) || kernel.holds_anything_wide()) return std::nullopt;
  const int chunks_most = kRowsRegisters / held_of_rows(domain, vectors, same) / vectors.width;
  if (chunks_most < 1) return std::nullopt;
  RowShape shape = shape_of(domain, vectors, vectors_in_row, chunks_most, false);
  if (shape.threads == 0 || shape.threads > kRowsThreads) return std::nullopt;
  if (bytes * shape.chunks * std::max(shape.threads, kWarpBlock) > kRowsShared) return std::nullopt;
  shape.rows = kLoopRows;
  shape.warps = kRowsWarps;
  return shape;
}

}  // namespace

int most_elements(const CudaDomain& domain) {
  constexpr int64_t kMost = 32;
  const int64_t fit = kMostKernelCode / std::max<int64_t>(1, loop_code(domain.program()));
  return static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(fit, 1, kMost))));
}

// Elements of a row that a thread may hold.
int elements_per_thread(const CudaDomain& domain) {
  const CudaKernel kernel(domain);
  const int arrays = kernel.live_values(kernel.choose_held()) * (kernel.holds_anything_wide() ? 2 : 1);
  int elements = most_elements(domain);
  while (elements > 2 && elements * arrays > kHeldRegisters) elements /= 2;
  return elements;
}

std::optional<RowShape> held_shape(const CudaDomain& domain, const CudaVectors& vectors, int64_t most) {
  const int ends =
      (vectors.across_rows ? 2 : 1) * (vectors.width - 1);  // elements that do not fill their vectors
  const int64_t vectors_in_row = std::max<int64_t>((most + ends) / vectors.width, 1);
  const auto rows = domain.count(domain.outer_axes());
  const int elements = elements_per_thread(domain);
  int chunks_most = std::max(1, elements / vectors.width);
  if (vectors.width > 1 && vectors_in_row > kManyThreads * int64_t{chunks_most}) chunks_most *= 2;
  const bool scalar = vectors.width == 1 && domain.count(domain.row_axes());
  if (scalar && vectors_in_row > 32 * chunks_most) chunks_most = std::max(1, elements / kScalarShare);
  const bool few_rows = domain.max_count(domain.outer_axes()) <= kFewRows;
  const RowShape shape = shape_of(domain, vectors, vectors_in_row, chunks_most, few_rows);
  const auto several = shape_of_rows(domain, vectors, vectors_in_row, shape);
  if (rows && several && rows_each(*rows, several->threads) > 1) return several;
  return shape.threads == 0 ? std::nullopt : std::optional(shape);
}

}  // namespace ge
