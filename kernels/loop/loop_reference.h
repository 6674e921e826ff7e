// The slow, plain meaning of a loop program: each value of each row in order, in double (rounded to the
// register's type after every instruction) or int64. Entry: reference_loop. What the CPU interpreter and the
// CUDA text are tested against.
#pragma once
#include <span>

#include "base/status.h"
#include "contract/bytecode.h"
#include "contract/tensor_view.h"

namespace ge {

// Verifies both, then runs on the calling thread. An output may share bytes with an input of equal strides.
Status reference_loop(const LoopProgram& program, std::span<const TensorView> operands);

}  // namespace ge
