#include "bind_without_device.h"

#include "compiler/pack/plan_check.h"
#include "contract/plan_bind.h"
#include "contract/plan_read.h"

namespace ge::test {
namespace {

// What an H200 allows.
DeviceLimits limits_of(const TargetName& target) {
  DeviceLimits limits;
  limits.device = target.device;
  limits.arch = target.arch;
  limits.max_shared_memory = 227 << 10;
  return limits;
}

Status bind_program(ByteSpan file, const std::string& target, const std::map<std::string, int64_t>& values) {
  GE_ASSIGN(const auto read, read_plan_bytes(file));
  const KernelResolver resolver = every_kernel_row();
  for (uint32_t i = 0; i < read.plan.programs.size(); ++i) {
    const Program& program = read.plan.programs[i];
    const auto name = parse_target(target);
    if (program.target != target || !name) continue;
    GE_ASSIGN(const PlanKernels kernels, verify_plan(read.plan, read.code.span(), resolver, i));
    std::vector<int64_t> symbols = optimal_symbols(program);
    for (size_t s = 0; s < symbols.size(); ++s)
      if (const auto at = values.find(program.symbols[s].name); at != values.end()) symbols[s] = at->second;
    GE_ASSIGN(const Binding bound, ge::bind(read.plan, kernels, i, symbols, limits_of(*name)));
    return bound.run.size() == program.run.steps.size() ? Status()
                                                        : fail(Code::internal).because("steps are missing");
  }
  return fail(Code::no_target).because("the plan has no program for " + target);
}

}  // namespace

std::string bind_without_device(ByteSpan file, const std::string& target,
                                const std::map<std::string, int64_t>& values) {
  const Status status = bind_program(file, target, values);
  return status.ok() ? "" : status.error().to_string();
}

}  // namespace ge::test
