// Every kind of step on the CPU: copies and fills, loops from bytecode, faults, ReadDims, If and Loop.
#include "catch.h"
#include "contract/device_block.h"
#include "runtime_sample.h"

using namespace ge;
using namespace ge::test;

namespace {

// y = x + x over [rows, 4], as one generated loop.
LoopProgram doubling_loop() {
  LoopProgram p;
  p.outer_rank = 2;
  p.operands = {{DType::float32, false, false}, {DType::float32, true, false}};
  LoopInstruction load, add, store;
  load.op = static_cast<uint16_t>(LoopOp::kLoad);
  add.op = static_cast<uint16_t>(ScalarOp::add);
  add.a = add.b = 0;
  store.op = static_cast<uint16_t>(LoopOp::kStore);
  store.a = 1;
  store.imm = 1;
  p.code = {load, add, store};
  return p;
}

}  // namespace

TEST_CASE("an output that is an input or a constant is a copy", "[runtime]") {
  PlanMaker m;
  const ExprId n = m.symbol("n", 0, 1 << 20, 4);
  const TensorRef x = m.input("x", {n}), same = m.output("same", {n}),
                  constant = m.output("constant", {m.number(2)});
  m.program().run.steps = {m.copy(x, same, "/nodes/0"),
                           m.copy(m.weights("c", {2}, {7, 8}), constant, "/nodes/1")};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind({{"n", 1000000}}).message == "");  // larger than one piece of work
  std::vector<float> values(1000000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  REQUIRE(r.write(0, values).ok());
  REQUIRE(r.run().message == "");
  REQUIRE(r.read<float>(0) == values);
  REQUIRE(r.read<float>(1) == std::vector<float>{7, 8});
}

TEST_CASE("fills write the pattern at every width", "[runtime]") {
  PlanMaker m;
  const TensorRef a = m.output("a", {m.number(5)}, DType::uint8),
                  b = m.output("b", {m.number(3)}, DType::int16),
                  c = m.output("c", {m.number(3)}, DType::float32),
                  d = m.output("d", {m.number(2)}, DType::int64);
  m.program().run.steps = {m.fill(a, 200), m.fill(b, 0xfffe), m.fill(c, 0x3fc00000),
                           m.fill(d, ~uint64_t{0} - 4)};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().ok());
  REQUIRE(r.run().ok());
  REQUIRE(r.read<uint8_t>(0) == std::vector<uint8_t>(5, 200));
  REQUIRE(r.read<int16_t>(1) == std::vector<int16_t>(3, -2));
  REQUIRE(r.read<float>(2) == std::vector<float>(3, 1.5f));
  REQUIRE(r.read<int64_t>(3) == std::vector<int64_t>(2, -5));
}

TEST_CASE("a generated loop runs from the plan's bytecode", "[runtime]") {
  PlanMaker m;
  const ExprId n = m.symbol("n", 0, 1000, 4);
  const TensorRef x = m.input("x", {n, m.number(4)}), h = m.arena("h", {n, m.number(4)}),
                  y = m.output("y", {n, m.number(4)});
  const uint32_t loop = m.loop("loop_add", doubling_loop(), 2);
  m.program().run.steps = {m.launch(loop, {x, h}, {}, "/nodes/0"), m.launch(loop, {h, y}, {}, "/nodes/1")};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  for (const int64_t rows : {3, 500, 3}) {
    REQUIRE(r.bind({{"n", rows}}).message == "");
    std::vector<float> x_values(static_cast<size_t>(rows) * 4), expected;
    for (size_t i = 0; i < x_values.size(); ++i) x_values[i] = static_cast<float>(i) - 7;
    for (float v : x_values) expected.push_back(v * 4);
    REQUIRE(r.write(0, x_values).ok());
    REQUIRE(r.run().message == "");
    REQUIRE(r.read<float>(0) == expected);
  }
  REQUIRE(ge_session_arena_bytes(r.session) == 256);
}

TEST_CASE("an index out of range ends the run with the node's name, and the next run is clean", "[runtime]") {
  PlanMaker m;
  const TensorRef table = m.weights("table", {3}, {10, 20, 30}),
                  index = m.input("index", {m.number(2)}, DType::int64), y = m.output("y", {m.number(2)}),
                  z = m.output("z", {m.number(2)});
  m.program().run.steps = {
      m.map(ScalarOp::abs, {y}, z, "/nodes/0"),
      m.launch(m.builtin("gather_reference"), {table, index, y}, {{"axis", int64_t{0}}}, "/nodes/5")};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  REQUIRE(r.write(0, std::vector<int64_t>{1, 77}).ok());
  const Outcome o = r.run();
  REQUIRE(o.code == "E0609");
  REQUIRE(o.kind == GE_ERROR_USER);
  REQUIRE_THAT(o.message, contains("/nodes/5"));
  REQUIRE_THAT(o.message, contains("index 77"));
  REQUIRE(r.write(0, std::vector<int64_t>{2, 0}).ok());
  REQUIRE(r.run().message == "");
  REQUIRE(r.read<float>(0) == std::vector<float>{30, 10});
}

TEST_CASE("dims read during the run bind the next segment", "[runtime]") {
  // count = the value of input n; y[count] (stored up to 8) = x[0 .. count).
  PlanMaker m;
  const ExprId count = m.symbol("count", 0, 8, 8);
  const TensorRef n = m.input("n", {m.number(1)}, DType::int64), x = m.input("x", {m.number(8)}),
                  given = m.host("n.host", {m.number(1)}, DType::int64);
  TensorRef y = m.output("y", {m.number(8)});
  m.program().signature.outputs[0].dims = {count};
  TensorRef x_part = x, y_part = y;
  x_part.dims = y_part.dims = {count};
  Step read{.kind = StepKind::kReadDims};
  read.read_dims = {{given, {0}, {"/nodes/1"}}};
  m.program().run.steps = {m.copy(n, given, "/nodes/0"), read,
                           m.map(ScalarOp::neg, {x_part}, y_part, "/nodes/2")};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  REQUIRE(r.write(1, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}).ok());
  for (const int64_t value : {3, 8, 0, 3}) {
    CAPTURE(value);
    REQUIRE(r.write(0, std::vector<int64_t>{value}).ok());
    REQUIRE(r.run().message == "");
    REQUIRE(r.output_dims(0) == std::vector<int64_t>{value});
    const std::vector<float> y_values = r.read<float>(0);
    REQUIRE(y_values.size() == static_cast<size_t>(value));
    for (size_t i = 0; i < y_values.size(); ++i) REQUIRE(y_values[i] == -static_cast<float>(i + 1));
  }
  REQUIRE(r.write(0, std::vector<int64_t>{9}).ok());
  const Outcome o = r.run();
  REQUIRE(o.code == "E0605");
  REQUIRE_THAT(o.message, contains("count = 9; allowed are 0 .. 8"));
}

TEST_CASE("If runs one of its blocks", "[runtime]") {
  PlanMaker m;
  const TensorRef flag = m.input("flag", {}, DType::boolean), x = m.input("x", {m.number(2)}),
                  y = m.output("y", {m.number(2)});
  Step branch{.kind = StepKind::kIf};
  branch.if_ = {{flag, 0, 1}};
  m.program().run.steps = {branch};
  m.program().blocks = {{{m.map(ScalarOp::neg, {x}, y, "/then")}}, {{m.copy(x, y, "/else")}}};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  REQUIRE(r.write(1, std::vector<float>{4, -5}).ok());
  REQUIRE(r.write(0, std::vector<uint8_t>{1}).ok());
  REQUIRE(r.run().message == "");
  REQUIRE(r.read<float>(0) == std::vector<float>{-4, 5});
  REQUIRE(r.write(0, std::vector<uint8_t>{0}).ok());
  REQUIRE(r.run().message == "");
  REQUIRE(r.read<float>(0) == std::vector<float>{4, -5});
}

TEST_CASE("Loop runs its body while the condition holds, with its number in the device block", "[runtime]") {
  // y = sum of 0 .. trips - 1, and the loop stops once y reaches the limit.
  PlanMaker m;
  const TensorRef trips = m.input("trips", {}, DType::int64), limit = m.input("limit", {}, DType::int64),
                  y = m.output("y", {}, DType::int64), go_on = m.host("go_on", {}, DType::boolean),
                  number = m.device_block(kLoopCountersOffset, DType::int64),
                  before = m.arena("before", {}, DType::int64);
  Step loop{.kind = StepKind::kLoop};
  loop.loop = {{trips, go_on, {y}, 0}};
  m.program().run.steps = {m.fill(y, 0), m.fill(go_on, 1), loop};
  m.program().blocks = {{{m.copy(y, before, "/copy"), m.map(ScalarOp::add, {before, number}, y, "/add"),
                          m.map(ScalarOp::less, {y, limit}, go_on, "/less")}}};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  const auto result = [&](int64_t trip_count, int64_t limit_value) {
    REQUIRE(r.write(0, std::vector<int64_t>{trip_count}).ok());
    REQUIRE(r.write(1, std::vector<int64_t>{limit_value}).ok());
    REQUIRE(r.run().message == "");
    return r.read<int64_t>(0).at(0);
  };
  REQUIRE(result(5, 1000) == 10);
  REQUIRE(result(0, 1000) == 0);
  REQUIRE(result(100, 6) == 6);  // 0 + 1 + 2 + 3
  int32_t count = 0;
  REQUIRE(r.write(0, std::vector<int64_t>{4}).ok());
  REQUIRE(Outcome(ge_session_profile(r.session, 1, &count)).message == "");
  REQUIRE(count == 5);  // two fills, and three steps of the body
}

TEST_CASE("state: an output that shares an input's storage", "[runtime]") {
  PlanMaker m;
  const TensorRef past = m.input("past", {m.number(2)}), present = m.output("present", {m.number(2)}),
                  h = m.arena("h", {m.number(2)});
  m.program().buffers[present.buffer].alias_of = past.buffer;
  m.program().run.steps = {m.map(ScalarOp::add, {past, past}, h, "/add"), m.copy(h, present, "/copy")};
  Run r(m.file());
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  REQUIRE(r.write(0, std::vector<float>{1, 3}).ok());
  for (int i = 0; i < 3; ++i) REQUIRE(r.run().message == "");
  REQUIRE(r.read<float>(0) == std::vector<float>{8, 24});
}
