#include "compiler/codegen/loop_code.h"

#include <algorithm>

#include "numeric/dtype.h"

namespace ge {
namespace {

struct CodeLength {
  int narrow = 2, wide = 4;  // in registers of 4 bytes (float32, int32), and of 8
};

// From the sizes of plans with chains of twelve.
CodeLength length_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::div:
    case ScalarOp::reciprocal:
    case ScalarOp::softsign:
      return {16, 32};
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
      return {16, 40};
    case ScalarOp::mod:
    case ScalarOp::fmod:
      return {44, 250};
    case ScalarOp::pow:
      return {52, 70};
    case ScalarOp::exp:
      return {10, 24};
    case ScalarOp::log:
      return {26, 76};
    case ScalarOp::expm1:
    case ScalarOp::elu:
    case ScalarOp::selu:
    case ScalarOp::celu:
      return {36, 64};
    case ScalarOp::log1p:
      return {30, 110};
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:  // float32 reduces great arguments in place, float64 by a call
      return {130, 60};
    case ScalarOp::asin:
    case ScalarOp::acos:
      return {24, 120};
    case ScalarOp::atan:
      return {20, 46};
    case ScalarOp::sinh:
    case ScalarOp::cosh:
      return {24, 120};
    case ScalarOp::tanh:
      return {16, 88};
    case ScalarOp::asinh:
    case ScalarOp::acosh:
    case ScalarOp::atanh:
      return {44, 160};
    case ScalarOp::erf:
      return {22, 54};
    case ScalarOp::gelu:
      return {48, 160};
    case ScalarOp::sigmoid:
    case ScalarOp::silu:
    case ScalarOp::swish:
      return {28, 88};
    case ScalarOp::gelu_tanh:
      return {34, 98};
    case ScalarOp::mish:
      return {30, 88};
    case ScalarOp::softplus:
      return {40, 210};
    default:
      return {};
  }
}

}  // namespace

int64_t loop_code(const LoopProgram& program) {
  int64_t total = 0;
  for (const LoopInstruction& c : program.code) {
    const bool wide = bits_of(c.type) > 32;
    const CodeLength length = c.op < kFirstControlOp ? length_of(static_cast<ScalarOp>(c.op)) : CodeLength{};
    const int times = c.element ? std::max(1, program.sweeps - c.sweep) : 1;
    total += int64_t{times} * (wide ? length.wide : length.narrow);
  }
  return total;
}

}  // namespace ge
