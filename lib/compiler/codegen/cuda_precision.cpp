#include "compiler/codegen/cuda_precision.h"

#include "contract/scalar_op.h"

namespace ge {
namespace {

bool is_narrow_float(DType dtype) {
  return is_float(dtype) && bits_of(dtype) <= 16;
}

}  // namespace

std::vector<bool> narrow_registers(const LoopProgram& program) {
  std::vector<bool> narrow(program.code.size());
  for (size_t r = 0; r < narrow.size(); ++r) narrow[r] = program.code[r].type == DType::float32;
  for (size_t r = program.code.size(); r-- > 0;) {
    const LoopInstruction& c = program.code[r];
    bool keeps = narrow[r];  // uses of r come later and have spoken
    if (c.op == static_cast<uint16_t>(LoopOp::kStore)) keeps = is_narrow_float(program.operands[c.imm].dtype);
    if (c.op == static_cast<uint16_t>(LoopOp::kCast)) keeps = is_narrow_float(static_cast<DType>(c.imm));
    if (c.op == static_cast<uint16_t>(LoopOp::kReduceArgMax) ||
        c.op == static_cast<uint16_t>(LoopOp::kReduceArgMin))
      keeps = false;
    if (keeps) continue;
    for (const uint16_t used : {c.a, c.b, c.c})
      if (used != kNoRegister) narrow[used] = false;
  }
  return narrow;
}

const char* narrow_function(uint16_t op) {
  if (op >= kFirstControlOp) return nullptr;
  switch (static_cast<ScalarOp>(op)) {
    case ScalarOp::div:
      return "div";
    case ScalarOp::exp:
      return "exp";
    case ScalarOp::sigmoid:
      return "sigmoid";
    case ScalarOp::silu:
      return "silu";
    case ScalarOp::swish:
      return "swish";
    case ScalarOp::gelu:
      return "gelu";
    case ScalarOp::gelu_tanh:
      return "gelu_tanh";
    case ScalarOp::hard_swish:
      return "hard_swish";
    default:
      return nullptr;
  }
}

}  // namespace ge
