// A loop program bound to views: collapsed axes, a tile shape and lists of resolved steps. Entry: plan_loop.
// The domain is batch x slow x fast axes. A tile is a dense [slow][fast] block of it; an element register is
// an array of a tile, a row register an array of one value per row of the tile. Two shapes:
//   rows     fast = the row's axes (without rows: the innermost axis), slow = the other axes. Short rows
//   share a tile; a long row
//            is cut into segments, swept one after the other.
//   columns  fast = a contiguous outer axis, slow = the row's axes, batch = the other outer axes: for
//   reductions over axes
//            that are not innermost.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "base/status.h"
#include "contract/bytecode.h"
#include "contract/tensor_view.h"
#include "runtime/cpu/loop_kernels.h"

namespace ge::cpu {

inline constexpr int64_t kTileElements =
    1024;  // of one element register: several of them stay in the first-level cache
inline constexpr int64_t kKeptBytes = 512 << 10;     // of values kept from one sweep to the next, per thread
inline constexpr int64_t kPieceElements = 16 << 10;  // least work handed to a thread

struct WalkAxis {
  int64_t extent = 1, stride = 0;  // elements
};
// How an operand (or an axis' index) lies along the domain; axes that an operand lets merge are merged,
// innermost last.
struct Walk {
  std::array<WalkAxis, kMaxRank> batch, slow, fast;
  int batch_rank = 0, slow_rank = 0, fast_rank = 0;
};

enum class SlotKind : uint8_t {
  kScratch,   // at an offset of the thread's scratch
  kConstant,  // a value in LoopPlan::constants
  kDirect,    // the operand's own memory at the tile
  kSegment,   // a whole row in scratch, at the tile's first position
};
struct Slot {
  SlotKind kind = SlotKind::kScratch;
  uint8_t element_bytes = 4;
  uint16_t operand = 0;  // kDirect
  size_t offset = 0;     // kScratch, kSegment: bytes; kConstant: index
};

enum class StepKind : uint8_t {
  kMap,           // dst = function(a, b, c)
  kSpread,        // dst (element) = a (row)
  kFill,          // dst (element or row array) = the one value at a
  kLoad,          // dst = operand
  kLoadOne,       // dst = the operand's first element: it repeats over the whole domain
  kStore,         // operand = a
  kIndex,         // dst = position along an axis; operand: which walk
  kCast,          // dst = a through a dtype
  kReduce,        // accumulators at dst take a
  kStartReduce,   // accumulators at dst
  kFinishReduce,  // dst = accumulators at a
};
struct Step {
  StepKind kind = StepKind::kMap;
  bool row = false;  // over the tile's rows, not its elements
  DType from = DType::float32, through = DType::float32, to = DType::float32;
  uint16_t dst = 0, a = 0, b = 0, c = 0;
  uint16_t operand = 0;  // kLoad, kStore: operand; kIndex: index walk
  MapFunction map = nullptr;
  const ReduceKernels* reduce = nullptr;
};

struct PlannedOperand {
  DType dtype = DType::float32;
  void* data = nullptr;
  Walk walk;
  bool dense = false;   // every tile is one contiguous range of it
  bool stream = false;  // an output so large that its stores go past the caches
  bool ahead = false;   // a dense input so large that the next tile is fetched while this one is computed
};

struct LoopPlan {
  const LoopKernels* kernels = nullptr;
  bool columns = false, has_rows = false;
  int64_t batch = 1, slow = 1, fast = 1;  // extents
  int64_t tile_slow = 1,
          tile_fast = 1;         // of a tile; tile_slow * tile_fast <= kTileElements where rows are long
  int64_t items = 0, grain = 1;  // units of parallel work
  int sweeps = 1;
  std::vector<PlannedOperand> operands;
  std::vector<Walk> index_walks;
  std::vector<uint64_t> constants;
  std::vector<Slot> slots;
  std::vector<Step> once;                        // per piece of work
  std::vector<std::vector<Step>> row_steps;      // [sweeps + 1]: before each sweep, after the last
  std::vector<std::vector<Step>> element_steps;  // [sweeps]
  size_t scratch_bytes = 0, pointers_offset = 0, temporary_offset = 0;
};

// Precondition: verify_loop and check_loop_operands passed.
// launch_refused for a program of too many steps.
Result<LoopPlan> plan_loop(const LoopProgram& program, std::span<const TensorView> views,
                           const LoopKernels& kernels);

}  // namespace ge::cpu
