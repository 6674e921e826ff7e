// A small plan that uses every kind of record, with kernels that exist in these tests alone. Entry:
// sample_plan, test_kernels.
#pragma once
#include <string>
#include <vector>

#include "contract/plan.h"
#include "contract/plan_bind.h"
#include "contract/plan_verify.h"
#include "contract/plan_write.h"

namespace ge::test {

// Adds expressions and dense tensors to a program.
class ProgramEditor {
 public:
  explicit ProgramEditor(Program& program) : p(program) {}
  ExprId number(int64_t value) { return p.exprs.constant(value); }
  ExprId symbol(int64_t index) {
    const ExprToken token{ExprOp::kSymbol, index};
    return p.exprs.add({&token, 1});
  }
  ExprId binary(ExprId a, ExprOp op, ExprId b);
  uint32_t buffer(std::string name, Region region, ExprId size_bytes);
  TensorRef dense(uint32_t buffer, std::vector<ExprId> dims, DType dtype = DType::float32);
  // dims with explicit strides
  TensorRef strided(uint32_t buffer, std::vector<ExprId> dims, std::vector<int64_t> strides,
                    int64_t offset_bytes = 0);
  Program& p;
};

struct Sample {
  Plan plan;
  std::vector<std::vector<std::byte>> image_bytes, blob_bytes;
  PlanBytes bytes() const;
  std::vector<std::byte> file();  // writes it
};
// Programs "cpu" and "sm_90": y[batch, 16] = relu(x * w + b) in a loop, then scaled in place by a built-in
// kernel, with a prepared copy of w, state, control steps, two choices, shadow launches.
Sample sample_plan();
// Kernels "scale_reference", "reduce_scratch_reference" and "scale_f32_sm80", revision 1.
KernelResolver test_kernels();
LoopProgram relu_loop();
DeviceLimits gpu_limits();
// Is every view inside its buffer, and every buffer inside the arena or prepared block? "" or what is not.
std::string outside_memory(const Plan& plan, const Binding& binding);

}  // namespace ge::test
