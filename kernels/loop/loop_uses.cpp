#include "kernels/loop/loop_uses.h"

namespace ge {
namespace {

void mark_operands(const LoopInstruction& c, std::vector<bool>& mark) {
  for (const uint16_t r : {c.a, c.b, c.c})
    if (r != kNoRegister) mark[r] = true;
}

}  // namespace

std::vector<bool> needed_registers(const LoopProgram& program) {
  std::vector<bool> needed(program.code.size(), false);
  for (size_t i = program.code.size(); i-- > 0;) {
    if (program.code[i].op == static_cast<uint16_t>(LoopOp::kStore)) needed[i] = true;
    if (needed[i]) mark_operands(program.code[i], needed);
  }
  return needed;
}

std::vector<bool> wanted_in_sweep(const LoopProgram& program, const std::vector<bool>& needed, int sweep,
                                  const std::vector<bool>& have) {
  std::vector<bool> wanted(program.code.size(), false);
  for (size_t i = program.code.size(); i-- > 0;) {
    const LoopInstruction& c = program.code[i];
    if (!needed[i]) continue;
    const bool stores =
        c.op == static_cast<uint16_t>(LoopOp::kStore) && c.element && sweep == program.sweeps - 1;
    const bool reduces = is_reduction(c.op) && c.sweep == sweep + 1;
    if (stores || reduces || (wanted[i] && c.element && !have[i])) mark_operands(c, wanted);
  }
  return wanted;
}

bool is_costly(uint16_t op) {
  if (op >= kFirstControlOp) return false;
  switch (static_cast<ScalarOp>(op)) {
    case ScalarOp::add:
    case ScalarOp::sub:
    case ScalarOp::mul:
    case ScalarOp::max:
    case ScalarOp::min:
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::relu:
    case ScalarOp::select:
    case ScalarOp::clamp:
      return false;
    default:
      return true;
  }
}

}  // namespace ge
