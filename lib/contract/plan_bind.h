// Bind-time checks: evaluates every size, view, slot, guard, grid and shared-memory figure for one set of
// dims in checked int64, against buffers, kernels and device. Entry: solve_symbols, bind_prepare, bind ->
// Binding. Promise: a run of a Binding needs no further check: every view lies inside its buffer, every
// launch was accepted by its kernel. The runtime adds base addresses and packs arguments.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "contract/plan.h"
#include "contract/plan_verify.h"
#include "contract/tensor_view.h"

namespace ge {

struct DeviceLimits {
  KernelDevice device = KernelDevice::kCpu;
  int32_t arch = 0;
  int64_t memory_bytes = int64_t{1} << 40;  // arena, prepared, weights, inputs and outputs together
  int64_t max_threads_per_block = 1024;
  std::array<int64_t, 3> max_block{1024, 1024, 64};
  std::array<int64_t, 3> max_grid{INT32_MAX, 65535, 65535};
  int64_t max_shared_memory = 48 << 10;  // dynamic, per block, opt-in limit
  int64_t max_cluster = 8;               // blocks per cluster
};

struct BoundBuffer {
  int64_t size_bytes = 0;
  int64_t offset_bytes = 0;  // kArena: from the arena's base; kPrepared: from the prepared block's base; else
                             // 0. Multiple of 256.
};
// A tensor as the runtime completes it: view.data = address(buffer) + offset_bytes. Absent operand: buffer
// kNoBuffer, rank -1.
struct BoundView {
  uint32_t buffer = kNoBuffer;
  int64_t offset_bytes = 0;  // of element (0, ..., 0) from the buffer's first byte
  TensorView view;           // data null
};
struct BoundLaunch {
  uint32_t choice = 0;                      // index into Launch::choices
  uint32_t kernel = 0;                      // index into Plan::kernels and PlanKernels
  uint32_t first_view = 0, view_count = 0;  // in Binding::views: the operands
  const Attrs* attrs = nullptr;             // of the choice
  std::array<int64_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  int64_t dynamic_shared_memory = 0;
  bool skip = false;  // every tensor it writes is empty: nothing is to be launched
  int64_t flops = 0, bytes_read = 0, bytes_written = 0;
};
struct BoundStep {  // stands at the same index as its Step
  StepKind kind = StepKind::kLaunch;
  BoundLaunch launch;                       // kLaunch
  uint32_t first_view = 0, view_count = 0;  // other kinds: Copy {from, to}; Fill {to}; ReadDims {from}; If
                                            // {cond}; Loop {trip, cond, carried...}
};
using BoundBlock = std::vector<BoundStep>;
struct BoundPort {
  uint32_t buffer = kNoBuffer;
  std::vector<int64_t> dims;
  int64_t size_bytes = 0;
};

struct Binding {
  uint32_t program = 0;
  std::vector<int64_t> symbols;
  std::vector<BoundBuffer> buffers;  // by index of Program::buffers
  int64_t arena_bytes = 0;           // the slots in order, each at a multiple of 256
  int64_t prepared_bytes = 0;
  std::vector<BoundView> views;
  BoundBlock prepare, run;
  std::vector<BoundBlock> blocks;  // as Program::blocks
  std::vector<BoundPort> inputs, outputs;
  int64_t max_scratch_args = 0;  // largest args_size of any launch
};

// Everything of `program` under `symbols` (one value each). The plan and kernels must outlive the Binding.
// Errors: symbol_range, assertion_failed, view_out_of_bounds, launch_refused, device_memory, plan_malformed;
// each names the step, its kernel and its source nodes.
Result<Binding> bind(const Plan& plan, const PlanKernels& kernels, uint32_t program,
                     std::span<const int64_t> symbols, const DeviceLimits& limits);
// The prepare block alone, before any dim is known (it holds none): buffers of weights and prepared regions,
// prepare steps.
Result<Binding> bind_prepare(const Plan& plan, const PlanKernels& kernels, uint32_t program,
                             const DeviceLimits& limits);
// `opt` of every symbol.
std::vector<int64_t> optimal_symbols(const Program& program);
// A value that the caller names: it stands against what the shapes say.
struct GivenSymbol {
  size_t symbol = 0;
  int64_t value = 0;
};
// In place of an input's shape: it takes the shape that the symbols give it.
inline std::vector<int64_t> unknown_shape() {
  return {INT64_MIN};
}
// The dims of every input, in order -> a value per symbol; symbols that neither inputs nor `given` name keep
// `opt`. A dim of a given shape must say what its symbols are: by itself ("n"), or as a sum in which one is
// unknown ("2*n + m" where m is known); of others ("a + b", "n // 2") `given` must name them. Errors:
// input_shape, symbol_conflict (naming both places), symbol_unsolved, symbol_range (with the range allowed).
Result<std::vector<int64_t>> solve_symbols(const Program& program,
                                           std::span<const std::vector<int64_t>> shapes,
                                           std::span<const GivenSymbol> given = {});
// Every value within its symbol's range; all that are not are told at once (symbol_range).
Status check_symbol_ranges(const Program& program, std::span<const int64_t> values);

}  // namespace ge
