// LoopProgram: a fused loop over a domain, in the form both printers share (CUDA text) and the CPU runs
// (bytecode). Entry: LoopProgram, encode/decode. Invariant: after verify_loop() and a binding whose operand
// views match the domain, running it touches no byte outside those views.
//
// The domain is outer dims x row dims. Every operand is a view whose rank is outer_rank + row_rank and whose
// dims are the domain's: a broadcast axis has stride 0, a transpose permutes strides, a slice moves the base.
// An operand of row level has extent 1 on the row axes. So there are no access maps: the views are the maps.
//
//   softmax over rows:  sweep 0: x = load 0; m = reduce max x
//                       sweep 1: d = x - m; e = exp d; s = reduce sum e
//                       sweep 2: q = e / s; store 1, q
// Instructions are SSA: instruction i defines register i. A value is of row level (one per row) or element
// level (one per element of the row); `sweep` says in which pass over the row an element value is computed. A
// later sweep may use it: the printer keeps it (registers, row scratch) or computes it again.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "contract/kernel_desc.h"
#include "numeric/dtype.h"

namespace ge {

// Opcodes below kFirstControlOp are the codes of scalar_ops.def.
enum class ScalarOp : uint16_t {
#define GE_SCALAR_OP(name, code, ...) name = code,
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
};
inline constexpr uint16_t kFirstControlOp = 0x100;
enum class LoopOp : uint16_t {
  kLoad = kFirstControlOp,  // imm: operand; converts to `type`
  kStore,     // a: value, imm: operand; converts to the operand's dtype (float to int saturates)
  kConstant,  // imm: index into constants
  kIndex,     // imm: domain axis; int64 position on that axis
  kRowCount,  // number of elements of a row, as `type`
  // Reductions take an element value and give a row value; one with `sweep` r is made during sweep r - 1 and
  // ready before r.
  kReduceSum,
  kReduceProd,
  kReduceMax,
  kReduceMin,  // NaN wins in max and min; boolean: any, all. Empty row: 0, 1, lowest, highest.
  kReduceArgMax,
  kReduceArgMin,  // int64 position in the row of the first best (imm 1: the last); NaN is best. Empty: 0
  kCast,          // a -> `type`, rounded through dtype imm (a DType number); type is register_type(imm)
};

inline constexpr uint16_t kNoRegister = 0xffff;

struct LoopInstruction {
  uint16_t op = 0;              // ScalarOp code or LoopOp
  DType type = DType::float32;  // register type: float32, float64, int32, int64, uint64 or boolean
  uint8_t sweep = 0;    // element level: pass that computes it; row level: pass before which it is ready
  bool element = true;  // element level or row level
  uint16_t a = kNoRegister, b = kNoRegister, c = kNoRegister;  // registers
  uint32_t imm = 0;
  bool operator==(const LoopInstruction&) const = default;
};
struct LoopOperand {
  DType dtype = DType::float32;  // in memory
  bool output = false;
  bool row_level = false;  // row axes have extent 1
  bool operator==(const LoopOperand&) const = default;
};
struct LoopConstant {
  DType type = DType::float32;
  uint64_t bits = 0;
  bool operator==(const LoopConstant&) const = default;
};  // bits of the value in `type`

struct LoopProgram {
  uint8_t outer_rank = 0;  // outer_rank + row_rank <= kMaxRank
  uint8_t row_rank = 0;    // 0: no rows, every value is of element level and there is one sweep
  uint8_t sweeps = 1;
  std::vector<LoopOperand> operands;
  std::vector<LoopConstant> constants;
  std::vector<LoopInstruction> code;
  bool operator==(const LoopProgram&) const = default;
};

inline constexpr size_t kMaxLoopInstructions = 4096;
inline constexpr size_t kMaxLoopOperands = 64;

std::vector<std::byte> encode_loop(const LoopProgram& program);
// Structure only (sizes, known opcodes); call verify_loop after it.
Result<LoopProgram> decode_loop(ByteSpan bytes);
// Registers defined before use, arity and types of each opcode, levels and sweeps in order, operand indices,
// one store or more per output. After it the interpreter needs no checks.
Status verify_loop(const LoopProgram& program);
// Every operand view has the domain's dims (or 1 on row axes for row-level operands). Bind-time.
Status check_loop_operands(const LoopProgram& program, std::span<const TensorView> operands);
std::string to_text(const LoopProgram& program);  // one instruction a line, for goldens and --emit
Result<LoopProgram> loop_from_text(
    std::string_view text);        // to_text's form; ir_syntax with the line. Not verified.
DType register_type(DType dtype);  // of the register that holds values of `dtype` exactly: float16 ->
                                   // float32, uint32 -> int64, int8 -> int32

}  // namespace ge
