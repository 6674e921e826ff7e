// A plan on a device: kernels resolved, weights loaded, the prepare block run, once. Entry: Model::load.
// Shared by sessions and threads. Invariant: nothing in it changes after load.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/plan.h"

namespace ge {

struct LoadTimes {
  double verify_us = 0, weights_us = 0, code_us = 0, prepare_us = 0;
};

// What a plan takes on a device; bytes under the optimal dims.
struct PlanNeeds {
  std::string target;
  int64_t launches = 0, kernels = 0, generated_kernels = 0;
  bool uses_library = false;
  int64_t weights_bytes = 0, prepared_bytes = 0, arena_bytes = 0, io_bytes = 0, free_bytes = 0;
};

class Model {
 public:
  // Everything that load() checks but the weights' bytes, and whether memory suffices.
  static Result<PlanNeeds> check(std::shared_ptr<PlanHandle> plan, std::shared_ptr<Device> device);
  // Errors: no_target, unknown_kernel, code_not_trusted, plan_checksum, device_memory and the device's own.
  static Result<std::shared_ptr<Model>> load(std::shared_ptr<PlanHandle> plan,
                                             std::shared_ptr<Device> device);
  ~Model();

  const PlanHandle& plan_handle() const { return *plan_; }
  const Plan& plan() const { return plan_->plan(); }
  uint32_t program_index() const { return program_; }
  const Program& program() const { return plan().programs[program_]; }
  Device& device() const { return *device_; }
  const PlanKernels& kernels() const { return verified_; }
  Kernel& kernel(uint32_t index) const { return *resolved_[index]; }  // of a kernel that the program uses
  const LoadTimes& times() const { return times_; }
  // Base address of a weights buffer's blob, and of the prepared block.
  std::byte* blob_address(uint32_t blob) const { return weights_->base() + blob_offsets_[blob]; }
  std::byte* prepared_base() const { return prepared_->base(); }
  int64_t weights_bytes() const { return weights_bytes_; }
  int64_t prepared_bytes() const { return prepared_bytes_; }
  // Text of a port's dims ("batch", "seq*2"), "" where the dim is fixed: kept here because ge.h hands out
  // pointers.
  const std::string& dim_text(bool output, size_t port, size_t axis) const {
    return (output ? output_dims_ : input_dims_)[port][axis];
  }

 private:
  Model(std::shared_ptr<PlanHandle> plan, std::shared_ptr<Device> device)
      : plan_(std::move(plan)), device_(std::move(device)) {}
  Status verify();
  Status resolve_kernels();
  Status load_weights();
  Status prepare();
  void describe_ports();

  std::shared_ptr<PlanHandle> plan_;
  std::shared_ptr<Device> device_;
  uint32_t program_ = 0;
  PlanKernels verified_;
  std::vector<std::unique_ptr<Kernel>>
      resolved_;  // by index of Plan::kernels; null where the program does not use it
  std::unique_ptr<Memory> weights_, prepared_;
  std::vector<int64_t> blob_offsets_;  // by blob; -1: not loaded
  int64_t weights_bytes_ = 0, prepared_bytes_ = 0;
  std::vector<std::vector<std::string>> input_dims_, output_dims_;
  LoadTimes times_;
};

// Steps of a block and of all blocks it leads to: calls body(const Launch&).
template <class F>
void for_each_launch(const Program& program, F&& body) {
  const auto visit = [&](const Block& block) {
    for (const Step& step : block.steps) {
      if (step.kind == StepKind::kLaunch) body(step.launch.front());
    }
  };
  visit(program.prepare);
  visit(program.run);
  for (const Block& block : program.blocks) visit(block);
}

}  // namespace ge
