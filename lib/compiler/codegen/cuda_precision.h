// Which values of a loop may be computed by kernels/loop/narrow_math.h. Entry: narrow_registers.
#pragma once
#include <vector>

#include "contract/bytecode.h"

namespace ge {

// float32 registers whose every use ends, through other such registers, in a float of 16 bits or fewer: a
// cast through one or a store into one. Nothing is compared, indexed or kept as float32.
std::vector<bool> narrow_registers(const LoopProgram& program);
// The function of ge::narrow that stands for `op`; null: none. `small`: results below 2^-126 count.
const char* narrow_function(uint16_t op, bool small);
// False where all of the loop's floats are of float16 or float8, whose least numbers are far above 2^-126.
bool has_small_floats(const LoopProgram& program);

}  // namespace ge
