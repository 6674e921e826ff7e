// Runs loop programs on the CPU: tile by tile with SIMD, on all threads of the launch's pool. Entry:
// PreparedLoop (bind once, run often) and run_loop (both at once). Invariant: the same bits for any number of
// threads and any instruction set; after a successful prepare() no byte outside the operands' views is
// touched.
#pragma once
#include <memory>
#include <span>

#include "base/status.h"
#include "contract/bytecode.h"
#include "contract/tensor_view.h"
#include "kernels/launch_context.h"
#include "runtime/cpu/loop_kernels.h"

namespace ge::cpu {

struct LoopPlan;

class PreparedLoop {
 public:
  // Verifies the program and the views (plan_malformed, launch_refused), collapses axes, chooses the tile and
  // resolves every instruction to a function. The program is not needed afterwards.
  static Result<PreparedLoop> prepare(const LoopProgram& program, std::span<const TensorView> views,
                                      LoopIsa isa = LoopIsa::kBest);
  PreparedLoop(PreparedLoop&&) noexcept;
  PreparedLoop& operator=(PreparedLoop&&) noexcept;
  ~PreparedLoop();

  // At the addresses of the views given to prepare(). Allocates nothing but the context's scratch.
  void run(const LaunchContext& context) const;
  // At other addresses for the same dims and strides: one per operand.
  void run(std::span<void* const> data, const LaunchContext& context) const;
  // What each thread asks of LaunchContext::scratch.
  size_t scratch_bytes() const;

 private:
  explicit PreparedLoop(std::unique_ptr<const LoopPlan> plan);
  std::unique_ptr<const LoopPlan> plan_;
};

// For one run: prepare() and run().
Status run_loop(const LoopProgram& program, std::span<const TensorView> views, const LaunchContext& context);

}  // namespace ge::cpu
