// Which values of a loop may be computed by kernels/loop/narrow_math.h. Entry: narrow_registers.
#pragma once
#include <vector>

#include "contract/bytecode.h"

namespace ge {

// float32 registers whose every use ends, through other such registers, in a float of 16 bits or fewer: a
// cast through one or a store into one. Nothing is compared, indexed or kept as float32.
std::vector<bool> narrow_registers(const LoopProgram& program);
// The function of ge::narrow that stands for `op`; null: none.
const char* narrow_function(uint16_t op);

}  // namespace ge
