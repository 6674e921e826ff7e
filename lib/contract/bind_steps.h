// Binds the steps of blocks once buffers have their places. Entry: StepBinder::block.
#pragma once
#include <string>

#include "contract/bind_values.h"
#include "contract/plan_bind.h"

namespace ge {

std::string no_size_text(const Buffer& buffer);  // "tensor "h" has no valid size"

class StepBinder {
 public:
  StepBinder(const Plan& plan, const PlanKernels& kernels, const Program& program, const DeviceLimits& limits,
             BoundValues& values, Binding& binding)
      : plan_(plan),
        kernels_(kernels),
        program_(program),
        limits_(limits),
        values_(values),
        binding_(binding) {}

  // Errors carry `path` and the step's index as the record's path, and the step's kernel and source nodes as
  // a frame.
  Status block(const Block& block, const std::string& path, BoundBlock& out);
  // The fault of the first view of this buffer whose dims have no valid value: it names the axis and the
  // nodes. No error where there is none.
  Status size_fault(uint32_t buffer);
  // Source nodes of the last step that names the buffer, "" where none does: of an output, what makes it.
  std::string nodes_of(uint32_t buffer) const;

 private:
  Status dims(const TensorRef& ref, TensorView& out);
  Status step(const Step& step, BoundStep& out);
  Status launch(const Launch& launch, BoundLaunch& out);
  Status configure(const Choice& choice, const KernelDesc& desc, BoundLaunch& out);
  Status check_geometry(const KernelDesc& desc, const BoundLaunch& launch) const;
  Status check_sharing(const KernelDesc& desc, const BoundLaunch& launch) const;
  Status check_kernel(const KernelDesc& desc, const BoundLaunch& launch);
  Status copy(const Copy& copy, BoundStep& out);
  Status tensor(const TensorRef& ref);
  Status tensors(const std::vector<TensorRef>& refs, uint32_t& first, uint32_t& count);
  bool overlap(const BoundView& a, const BoundView& b) const;

  const Plan& plan_;
  const PlanKernels& kernels_;
  const Program& program_;
  const DeviceLimits& limits_;
  BoundValues& values_;
  Binding& binding_;
  std::vector<TensorView> views_;  // operands of the launch at hand; data is the offset, for alignment
  std::vector<std::byte> args_;
};

}  // namespace ge
