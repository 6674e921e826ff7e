// A plan as the runtime will see it when it is loaded: a fault of the compiler is told by the compiler.
// Entry: check_plan.
#pragma once
#include "contract/plan_verify.h"

namespace ge {

// Every row of the kernel registry, whatever this build can run. Its descriptions live as long as it.
KernelResolver every_kernel_row();
// verify_plan over all programs. Errors: internal, with the record and what is wrong with it.
Status check_plan(const Plan& plan, ByteSpan code);

}  // namespace ge
