// verify_loop and check_loop_operands: what makes a loop program safe to run. Entry: those two.
// Invariant: after both, each read is of a register that was written with the type and level its reader
// expects, each operand index is in range, and walking the domain stays inside each operand's dims.
#include "contract/bytecode.h"

#include "base/checked_math.h"
#include "contract/scalar_op.h"

namespace ge {
namespace {

bool is_register_type(DType t) {
  return t == DType::float32 || t == DType::float64 || t == DType::int32 || t == DType::int64 ||
         t == DType::uint64 || t == DType::boolean;
}

// Checks one program, instruction by instruction. Each check returns nullptr or what is wrong.
class LoopVerifier {
 public:
  explicit LoopVerifier(const LoopProgram& program) : p_(program), stored_(program.operands.size(), false) {}

  Status verify() {
    if (const char* wrong = shape()) return malformed("program", 0, wrong);
    for (size_t i = 0; i < p_.operands.size(); ++i) {
      if (const char* wrong = operand(p_.operands[i])) return malformed("operand", i, wrong);
    }
    for (size_t i = 0; i < p_.constants.size(); ++i) {
      const LoopConstant& c = p_.constants[i];
      if (!is_register_type(c.type)) return malformed("constant", i, "its type is no register type");
      if (c.type == DType::boolean && c.bits > 1)
        return malformed("constant", i, "a boolean other than 0 or 1");
    }
    for (size_t i = 0; i < p_.code.size(); ++i) {
      if (const char* wrong = instruction(i)) return malformed("instruction", i, wrong);
    }
    for (size_t i = 0; i < p_.operands.size(); ++i) {
      if (p_.operands[i].output && !stored_[i])
        return malformed("operand", i, "an output that nothing stores to");
    }
    return {};
  }

 private:
  static Diagnostic malformed(const char* record, size_t index, const char* wrong) {
    return fail(Code::plan_malformed)
        .say("loop program is malformed")
        .because(std::string(record) + " " + std::to_string(index) + ": " + wrong);
  }

  const char* shape() const {
    if (p_.outer_rank + p_.row_rank > kMaxRank) return "more than 8 axes";
    if (p_.sweeps < 1) return "no sweep";
    if (p_.row_rank == 0 && p_.sweeps != 1) return "several sweeps without rows";
    if (p_.operands.size() > kMaxLoopOperands) return "more than 64 operands";
    if (p_.code.size() > kMaxLoopInstructions || p_.constants.size() > kMaxLoopInstructions)
      return "more than 4096 instructions";
    bool output = false, element = false;
    for (const LoopOperand& o : p_.operands) {
      output |= o.output;
      element |= !o.row_level;
    }
    if (!output) return "no output";
    return element ? nullptr : "no operand of element level, so the row's length is unknown";
  }

  const char* operand(const LoopOperand& o) const {
    if (static_cast<int>(o.dtype) >= kDTypeCount) return "unknown dtype";
    if (bits_of(o.dtype) < 8) return "4-bit elements have no address of their own";
    if (o.row_level && p_.row_rank == 0) return "row level without rows";
    return nullptr;
  }

  // Register `r` may be read by `user`: defined before it, and ready when it runs.
  const char* readable(size_t at, uint16_t r, const LoopInstruction& user) const {
    if (r >= at) return "a register is read before it is defined";
    const LoopInstruction& source = p_.code[r];
    if (source.op == static_cast<uint16_t>(LoopOp::kStore)) return "a store has no value";
    if (source.element && !user.element) return "a row value is computed from an element value";
    if (source.sweep > user.sweep) return "a value is used in an earlier sweep than its own";
    return nullptr;
  }

  const char* registers(size_t at, const LoopInstruction& c, int count) const {
    const uint16_t list[] = {c.a, c.b, c.c};
    for (int i = 0; i < 3; ++i) {
      if (i >= count) {
        if (list[i] != kNoRegister) return "more registers than the opcode takes";
      } else if (const char* wrong = readable(at, list[i], c)) {
        return wrong;
      }
    }
    return nullptr;
  }

  const char* instruction(size_t at) {
    const LoopInstruction& c = p_.code[at];
    if (!is_register_type(c.type)) return "its type is no register type";
    if (p_.row_rank == 0 && !c.element) return "row level without rows";
    if (c.sweep > p_.sweeps || (c.element && c.sweep == p_.sweeps)) return "its sweep is past the last";
    return c.op < kFirstControlOp ? scalar(at, c) : control(at, c);
  }

  const char* scalar(size_t at, const LoopInstruction& c) const {
    const ScalarOpInfo* info = scalar_op_info(c.op);
    if (info == nullptr) return "unknown opcode";
    if (const char* wrong = registers(at, c, info->arity)) return wrong;
    if (c.imm != 0) return "an immediate that the opcode does not take";
    const bool selects = info->op == ScalarOp::select;
    if (selects && p_.code[c.a].type != DType::boolean) return "select's condition is not boolean";
    const DType type = p_.code[selects ? c.b : c.a].type;
    if (info->arity > 1 && p_.code[c.b].type != type) return "operands of different types";
    if (info->arity > 2 && p_.code[c.c].type != type) return "operands of different types";
    if (!accepts(info->domain, type)) return "the opcode does not take this type";
    const DType expected = info->result == ScalarResult::boolean ? DType::boolean : type;
    return c.type == expected ? nullptr : "its type is not the opcode's result type";
  }

  const char* reduce(size_t at, const LoopInstruction& c, bool position, bool takes_boolean) const {
    if (c.element) return "a reduction gives a row value";
    if (c.a >= at) return "a register is read before it is defined";
    const LoopInstruction& source = p_.code[c.a];
    if (source.op == static_cast<uint16_t>(LoopOp::kStore)) return "a store has no value";
    if (!source.element) return "a reduction takes an element value";
    if (c.sweep == 0 || source.sweep > c.sweep - 1)
      return "a reduction is ready one sweep after its operand, or later";
    if (c.b != kNoRegister || c.c != kNoRegister) return "more registers than the opcode takes";
    if (c.imm > (position ? 1u : 0u)) return "an immediate that the opcode does not take";
    if (!takes_boolean && source.type == DType::boolean) return "the opcode does not take this type";
    return c.type == (position ? DType::int64 : source.type) ? nullptr
                                                             : "its type is not the opcode's result type";
  }

  const char* load_or_store(size_t at, const LoopInstruction& c, bool store) {
    if (c.imm >= p_.operands.size()) return "no such operand";
    const LoopOperand& o = p_.operands[c.imm];
    if (o.output != store) return store ? "a store to an input" : "a load from an output";
    if (c.element == o.row_level) return "its level is not the operand's";
    if (const char* wrong = registers(at, c, store ? 1 : 0)) return wrong;
    if (!store) return nullptr;
    stored_[c.imm] = true;
    return p_.code[c.a].type == c.type ? nullptr : "its type is not the value's";
  }

  const char* control(size_t at, const LoopInstruction& c) {
    switch (static_cast<LoopOp>(c.op)) {
      case LoopOp::kLoad:
        return load_or_store(at, c, false);
      case LoopOp::kStore:
        return load_or_store(at, c, true);
      case LoopOp::kConstant:
        if (c.imm >= p_.constants.size()) return "no such constant";
        if (p_.constants[c.imm].type != c.type) return "its type is not the constant's";
        return registers(at, c, 0);
      case LoopOp::kIndex:
        if (c.imm >= static_cast<uint32_t>(p_.outer_rank + p_.row_rank)) return "no such axis";
        if (!c.element && c.imm >= p_.outer_rank) return "a row value that depends on a row axis";
        if (c.type != DType::int64) return "an index is int64";
        return registers(at, c, 0);
      case LoopOp::kRowCount:
        if (p_.row_rank == 0) return "row level without rows";
        if (c.type == DType::boolean) return "the opcode does not take this type";
        if (c.imm != 0) return "an immediate that the opcode does not take";
        return registers(at, c, 0);
      case LoopOp::kReduceSum:
      case LoopOp::kReduceProd:
        return reduce(at, c, false, false);
      case LoopOp::kReduceMax:
      case LoopOp::kReduceMin:
        return reduce(at, c, false, true);
      case LoopOp::kReduceArgMax:
      case LoopOp::kReduceArgMin:
        return reduce(at, c, true, true);
      case LoopOp::kCast:
        if (c.imm >= static_cast<uint32_t>(kDTypeCount)) return "no such dtype";
        if (register_type(static_cast<DType>(c.imm)) != c.type) return "its type does not hold the dtype";
        return registers(at, c, 1);
    }
    return "unknown opcode";
  }

  const LoopProgram& p_;
  std::vector<bool> stored_;
};

Diagnostic refused(size_t operand, const std::string& found) {
  return fail(Code::launch_refused)
      .say("operands do not fit the loop")
      .because("operand " + std::to_string(operand) + ": " + found);
}

}  // namespace

DType register_type(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return DType::float64;
    case DType::int64:
    case DType::uint32:
      return DType::int64;
    case DType::uint64:
      return DType::uint64;
    case DType::boolean:
      return DType::boolean;
    default:
      return is_float(dtype) ? DType::float32 : DType::int32;
  }
}

Status verify_loop(const LoopProgram& program) {
  return LoopVerifier(program).verify();
}

Status check_loop_operands(const LoopProgram& program, std::span<const TensorView> operands) {
  if (operands.size() != program.operands.size()) {
    return fail(Code::launch_refused)
        .say("operands do not fit the loop")
        .because("found " + std::to_string(operands.size()) + " operands; the loop takes " +
                 std::to_string(program.operands.size()));
  }
  const int outer = program.outer_rank, rank = outer + program.row_rank;
  size_t domain = 0;
  while (program.operands[domain].row_level) ++domain;  // verify_loop: there is one
  for (size_t i = 0; i < operands.size(); ++i) {
    const TensorView& view = operands[i];
    const LoopOperand& declared = program.operands[i];
    if (view.rank != rank)
      return refused(
          i, "rank " + std::to_string(view.rank) + "; the loop has " + std::to_string(rank) + " axes");
    if (view.dtype != declared.dtype)
      return refused(
          i, std::string(name_of(view.dtype)) + "; the loop takes " + std::string(name_of(declared.dtype)));
    int64_t count = 1;
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t extent = declared.row_level && axis >= outer ? 1 : operands[domain].dims[axis];
      if (view.dims[axis] != extent || extent < 0) {
        return refused(i, "extent " + std::to_string(view.dims[axis]) + " on axis " + std::to_string(axis) +
                              "; the loop has " + std::to_string(extent));
      }
      const auto product =
          checked_mul(count, extent == 0 ? 1 : extent);  // of any axes, also where another is empty
      if (!product) return refused(i, "more than 2^63 elements");
      count = *product;
      if (declared.output && extent > 1 && view.strides[axis] == 0 && element_count(view) > 0) {
        return refused(i, "an output that repeats along axis " + std::to_string(axis));
      }
    }
  }
  return {};
}

}  // namespace ge
