// Runs a program's blocks: straight runs go to the stream, control steps (ReadDims, If, Loop) are decided
// here, on the host. Entry: BlockRunner::run. One path serves plain runs, recorded runs and profiled ones.
#pragma once
#include <cstdint>
#include <span>

#include "runtime/prepared_binding.h"

namespace ge {

// Where the runner gets its binding from; rebind() is called at ReadDims.
class BindingSource {
 public:
  virtual ~BindingSource() = default;
  virtual PreparedBinding& current() = 0;
  virtual Status rebind(std::span<const int64_t> symbols) = 0;
};

class BlockRunner {
 public:
  BlockRunner(const Program& program, Stream& stream, BindingSource& bindings)
      : program_(program), stream_(stream), bindings_(bindings) {}
  // The run block from its start. With `times` every step is timed by itself. Errors: symbol_range,
  // index_out_of_range aside (the session reads faults), and the stream's.
  Status run(StepTimes* times = nullptr);

 private:
  Status run_block(uint32_t index, int depth);
  Status run_control(uint32_t block, uint32_t step, int depth);
  Status read_dims(const ReadDims& read, const BoundStep& bound);
  Status run_if(const If& branch, const BoundStep& bound, int depth);
  Status run_loop(const Loop& loop, uint32_t block, uint32_t step, int depth);
  Result<bool> read_condition(const BoundStep& bound, uint32_t view);

  const Program& program_;
  Stream& stream_;
  BindingSource& bindings_;
  StepTimes* times_ = nullptr;
};

}  // namespace ge
