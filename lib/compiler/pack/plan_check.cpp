#include "compiler/pack/plan_check.h"

#include <map>
#include <memory>
#include <string>

#include "kernels/registry.h"

namespace ge {

KernelResolver every_kernel_row() {
  const auto known = std::make_shared<std::map<std::string, KernelDesc>>();
  return [known](std::string_view name, uint32_t revision) -> KernelEntry {
    const KernelRow* row = find_kernel_row(name, revision);
    if (row == nullptr) return {};
    return {&known->try_emplace(std::string(name), desc(*row)).first->second, row->check};
  };
}

Status check_plan(const Plan& plan, ByteSpan code) {
  const auto verified = verify_plan(plan, code, every_kernel_row());
  if (verified.ok()) return {};
  const Diagnostic& fault = verified.error().first();
  return fail(Code::internal)
      .say("the compiled plan would be refused when it is loaded")
      .in(fault.path)
      .because(fault.found);
}

}  // namespace ge
