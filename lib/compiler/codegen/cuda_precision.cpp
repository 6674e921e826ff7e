#include "compiler/codegen/cuda_precision.h"

#include <algorithm>

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

bool has_small_floats(const LoopProgram& program) {
  const auto small = [](DType dtype) {
    return is_float(dtype) && dtype != DType::float16 && bits_of(dtype) > 8;
  };
  const bool stored = std::any_of(program.operands.begin(), program.operands.end(),
                                  [&](const LoopOperand& o) { return small(o.dtype); });
  return stored || std::any_of(program.code.begin(), program.code.end(), [&](const LoopInstruction& c) {
           return c.op == static_cast<uint16_t>(LoopOp::kCast) &&
                  static_cast<DType>(c.imm) == DType::bfloat16;
         });
}

const char* narrow_function(uint16_t op, bool small) {
  if (op >= kFirstControlOp) return nullptr;
  switch (static_cast<ScalarOp>(op)) {
    case ScalarOp::div:
      return "div";
    case ScalarOp::rsqrt:
      return "rsqrt";
    case ScalarOp::exp:
      return small ? "exp<true>" : "exp<false>";
    case ScalarOp::sigmoid:
      return small ? "sigmoid<true>" : "sigmoid<false>";
    case ScalarOp::silu:
      return small ? "silu<true>" : "silu<false>";
    case ScalarOp::swish:
      return small ? "swish<true>" : "swish<false>";
    case ScalarOp::gelu:
      return small ? "gelu<true>" : "gelu<false>";
    case ScalarOp::gelu_tanh:
      return small ? "gelu_tanh<true>" : "gelu_tanh<false>";
    case ScalarOp::hard_swish:
      return "hard_swish";
    default:
      return nullptr;
  }
}

}  // namespace ge
