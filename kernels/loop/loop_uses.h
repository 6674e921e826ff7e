// Which values of a loop program are needed, and in which sweep. Entry: needed_registers, wanted_in_sweep.
// Shared by the CPU planner and the CUDA printer, so that both agree on what is computed where.
#pragma once
#include <vector>

#include "contract/bytecode.h"

namespace ge {

// Registers that some store depends on, stores included.
std::vector<bool> needed_registers(const LoopProgram& program);

// Registers that sweep `sweep` reads or computes, where element values in `have` are there already: the
// operands of reductions made in it, in the last sweep of all element stores, and what those are computed
// from.
std::vector<bool> wanted_in_sweep(const LoopProgram& program, const std::vector<bool>& needed, int sweep,
                                  const std::vector<bool>& have);

// Costs more than loading its result again would.
bool is_costly(uint16_t op);

inline bool is_reduction(uint16_t op) {
  return op >= static_cast<uint16_t>(LoopOp::kReduceSum) &&
         op <= static_cast<uint16_t>(LoopOp::kReduceArgMin);
}

}  // namespace ge
