// Loop programs as bytes and text, and what the verifier refuses.
#include "catch.h"

#include <functional>

#include "contract/scalar_op.h"
#include "loops_support.h"

namespace ge {
namespace {

const char* kSoftmax = R"(loop outer=1 row=1 sweeps=3
  operand 0 in float16
  operand 1 out float16
  constant 0 float32 0x3f000000 ; 0.5
  %0 e0 float32 load 0
  %1 r0 float32 constant 0
  %2 e0 float32 mul %0 %1
  %3 r1 float32 reduce_max %2
  %4 e1 float32 sub %2 %3
  %5 e1 float32 exp %4
  %6 r2 float32 reduce_sum %5
  %7 e2 float32 div %5 %6
  %8 e2 float32 cast %7 float16
  %9 e2 float32 store %8 1
)";

LoopProgram softmax() {
  auto p = loop_from_text(kSoftmax);
  REQUIRE_OK(p);
  return *p;
}

TEST_CASE("text and bytes hold the whole program", "[loops][bytecode]") {
  REQUIRE(to_text(softmax()) == kSoftmax);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const LoopProgram p = test::RandomLoop(seed, 100).program;
    auto decoded = decode_loop(encode_loop(p));
    REQUIRE_OK(decoded);
    REQUIRE(*decoded == p);
    auto parsed = loop_from_text(to_text(p));
    REQUIRE_OK(parsed);
    REQUIRE(*parsed == p);
  }
}

TEST_CASE("damaged bytes are refused", "[loops][bytecode]") {
  const auto bytes = encode_loop(softmax());
  for (size_t n = 0; n < bytes.size(); ++n)
    REQUIRE_CODE(decode_loop(ByteSpan(bytes).first(n)), Code::plan_malformed);
  auto longer = bytes;
  longer.push_back(std::byte{0});
  REQUIRE_CODE(decode_loop(longer), Code::plan_malformed);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int value : {0x00, 0xff}) {
      auto changed = bytes;
      changed[i] = static_cast<std::byte>(value);
      const auto decoded = decode_loop(changed);
      if (decoded.ok()) REQUIRE(encode_loop(*decoded) == changed);  // no two byte forms of one program
    }
  }
}

std::string fault(const std::function<void(LoopProgram&)>& change) {
  LoopProgram p = softmax();
  change(p);
  const Status status = verify_loop(p);
  if (status.ok()) return "accepted";
  REQUIRE_CODE(status, Code::plan_malformed);
  return status.error().first().found;
}

TEST_CASE("the verifier names what is wrong", "[loops][bytecode]") {
  REQUIRE_OK(verify_loop(softmax()));
  CHECK(fault([](LoopProgram& p) { p.outer_rank = 8; }) == "program 0: more than 8 axes");
  CHECK(fault([](LoopProgram& p) { p.sweeps = 0; }) == "program 0: no sweep");
  CHECK(fault([](LoopProgram& p) { p.sweeps = 2; }) == "instruction 7: its sweep is past the last");
  CHECK(fault([](LoopProgram& p) { p.operands[0].dtype = DType::int4; }) ==
        "operand 0: 4-bit elements have no address of their own");
  CHECK(fault([](LoopProgram& p) {
          p.operands.push_back({DType::float32, true, false});
        }) == "operand 2: an output that nothing stores to");
  CHECK(fault([](LoopProgram& p) {
          for (auto& o : p.operands) o.row_level = true;
        }) == "program 0: no operand of element level, so the row's length is unknown");
  CHECK(fault([](LoopProgram& p) { p.code[0].imm = 1; }) == "instruction 0: a load from an output");
  CHECK(fault([](LoopProgram& p) { p.code[0].imm = 9; }) == "instruction 0: no such operand");
  CHECK(fault([](LoopProgram& p) { p.code[9].imm = 0; }) == "instruction 9: a store to an input");
  CHECK(fault([](LoopProgram& p) { p.code[0].element = false; }) ==
        "instruction 0: its level is not the operand's");
  CHECK(fault([](LoopProgram& p) { p.code[0].type = DType::float16; }) ==
        "instruction 0: its type is no register type");
  CHECK(fault([](LoopProgram& p) { p.code[1].imm = 5; }) == "instruction 1: no such constant");
  CHECK(fault([](LoopProgram& p) { p.code[1].type = DType::int32; }) ==
        "instruction 1: its type is not the constant's");
  CHECK(fault([](LoopProgram& p) { p.code[2].a = 2; }) ==
        "instruction 2: a register is read before it is defined");
  CHECK(fault([](LoopProgram& p) { p.code[2].c = 0; }) ==
        "instruction 2: more registers than the opcode takes");
  CHECK(fault([](LoopProgram& p) { p.code[2].type = DType::boolean; }) ==
        "instruction 2: its type is not the opcode's result type");
  CHECK(fault([](LoopProgram& p) { p.code[2].op = 46; }) ==
        "instruction 2: the opcode does not take this type");
  CHECK(fault([](LoopProgram& p) { p.code[2].op = 39; }) == "instruction 2: unknown opcode");
  CHECK(fault([](LoopProgram& p) { p.code[2].imm = 1; }) ==
        "instruction 2: an immediate that the opcode does not take");
  CHECK(fault([](LoopProgram& p) { p.code[2].element = false; }) ==
        "instruction 2: a row value is computed from an element value");
  CHECK(fault([](LoopProgram& p) { p.code[3].sweep = 0; }) ==
        "instruction 3: a reduction is ready one sweep after its operand, or later");
  CHECK(fault([](LoopProgram& p) { p.code[3].a = 1; }) ==
        "instruction 3: a reduction takes an element value");
  CHECK(fault([](LoopProgram& p) { p.code[3].element = true; }) ==
        "instruction 3: a reduction gives a row value");
  CHECK(fault([](LoopProgram& p) { p.code[4].sweep = 0; }) ==
        "instruction 4: a value is used in an earlier sweep than its own");
  CHECK(fault([](LoopProgram& p) { p.code[8].imm = static_cast<uint32_t>(DType::int8); }) ==
        "instruction 8: its type does not hold the dtype");
  CHECK(fault([](LoopProgram& p) { p.code[8].imm = 200; }) == "instruction 8: no such dtype");
  CHECK(fault([](LoopProgram& p) { p.code[9].type = DType::int32; }) ==
        "instruction 9: its type is not the value's");
  CHECK(fault([](LoopProgram& p) { p.code[9].a = kNoRegister; }) ==
        "instruction 9: a register is read before it is defined");
  CHECK(fault([](LoopProgram& p) {
          p.code.push_back(p.code[9]);
          p.code.back().a = 9;
        }) == "instruction 10: a store has no value");
  CHECK(fault([](LoopProgram& p) { p.row_rank = 0; }) == "program 0: several sweeps without rows");
  // A later sweep may use an earlier one's value.
  CHECK(fault([](LoopProgram& p) { p.code[7].a = 2; }) == "accepted");
}

TEST_CASE("text that is none is refused with its line", "[loops][bytecode]") {
  const auto bad = loop_from_text("loop outer=1 row=0 sweeps=1\n  operand 0 in float33\n");
  REQUIRE_CODE(bad, Code::ir_syntax);
  REQUIRE_THAT(bad.error().first().found, test::contains("line 2"));
  REQUIRE_CODE(loop_from_text("%0 e0 float32 nonsense"), Code::ir_syntax);
}

TEST_CASE("scalar op table", "[loops][bytecode]") {
  REQUIRE(scalar_ops().size() > 60);
  for (const ScalarOpInfo& row : scalar_ops()) {
    REQUIRE(scalar_op_info(static_cast<uint16_t>(row.op)) == &row);
    REQUIRE(scalar_op_from_name(row.name) == &row);
  }
  REQUIRE(scalar_op_info(0) == nullptr);
  REQUIRE(scalar_op_info(39) == nullptr);
  REQUIRE(scalar_op_from_name("nothing") == nullptr);
  REQUIRE(accepts(ScalarDomain::number, DType::int4));
  REQUIRE_FALSE(accepts(ScalarDomain::number, DType::boolean));
  REQUIRE_FALSE(accepts(ScalarDomain::real, DType::int32));
}

}  // namespace
}  // namespace ge
