// Load-time checks: everything about a plan that holds no dim. Entry: verify_plan -> PlanKernels.
// Promise: after it, with a Binding from plan_bind.h, running the plan touches no byte outside its own
// memory.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "contract/bytecode.h"
#include "contract/plan.h"

namespace ge {

// A built-in or library kernel as this runtime has it; desc null: not here. The description outlives the
// plan.
struct KernelEntry {
  const KernelDesc* desc = nullptr;
  LaunchCheck check = nullptr;
};
using KernelResolver = std::function<KernelEntry(std::string_view name, uint32_t revision)>;

// What Plan::kernels resolved to, by index. Generated kernels' descriptions are those in the plan, which must
// outlive this (moving the plan is fine). Entries of kernels that no verified program uses may be null.
struct PlanKernels {
  std::vector<KernelEntry> entries;
  std::vector<std::optional<LoopProgram>> loops;  // generated CPU kernels: their decoded, verified program
};

inline constexpr uint32_t kAllPrograms = 0xffffffffu;
inline constexpr uint32_t kMaxLanes = 16;
inline constexpr int kMaxBlockNesting = 8;  // kMaxLoopDepth of device_block.h

// Checks records and indices of the whole plan, and, for `program` (or all), that each launch fits its
// kernels. `code` is the code section. Errors: plan_malformed (with the record's path), unknown_kernel (all
// of them at once).
Result<PlanKernels> verify_plan(const Plan& plan, ByteSpan code, const KernelResolver& resolver,
                                uint32_t program = kAllPrograms);
// All that needs no built-in kernels at hand: records, indices, code hashes, loop programs (ge-inspect
// --verify).
Status verify_contents(const Plan& plan, ByteSpan code);
// The records and indices alone.
Status verify_structure(const Plan& plan, uint64_t code_bytes, uint64_t weights_bytes);
// The device that a target's launches run on: "cpu" -> kCpu, "sm_NN" -> kCuda; arch NN, 0 for the CPU.
// nullopt: no target's name.
struct TargetName {
  KernelDevice device = KernelDevice::kCpu;
  int32_t arch = 0;
};
std::optional<TargetName> parse_target(std::string_view target);

}  // namespace ge
