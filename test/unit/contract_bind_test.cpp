// Binding: values, places and launches under given dims; what does not fit is refused; shapes give dims.
#include "catch.h"
#include "contract/plan_bind.h"
#include "contract/plan_read.h"
#include "contract/view_bounds.h"
#include "contract_sample.h"

using namespace ge;
using namespace ge::test;

namespace {

template <class F>
Result<Binding> bound(F&& change, std::vector<int64_t> symbols = {8, 2}, DeviceLimits limits = {}) {
  static std::vector<std::unique_ptr<std::pair<Plan, PlanKernels>>> kept;  // bindings point into their plan
  Sample s = sample_plan();
  change(s.plan.programs[0]);
  auto file = read_plan_bytes(s.file());
  REQUIRE_OK(file);
  auto kernels = verify_plan(file->plan, file->code.span(), test_kernels());
  REQUIRE_OK(kernels);
  kept.push_back(std::make_unique<std::pair<Plan, PlanKernels>>(std::move(file->plan), std::move(*kernels)));
  return ge::bind(kept.back()->first, kept.back()->second, limits.device == KernelDevice::kCpu ? 0 : 1,
                  symbols, limits);
}
const auto same = [](Program&) {};

template <class F>
std::string refusal(Code code, F&& change, std::vector<int64_t> symbols = {8, 2}, DeviceLimits limits = {}) {
  const auto result = bound(change, symbols, limits);
  REQUIRE_CODE(result, code);
  const Diagnostic& d = result.error().first();
  return d.path + ": " + d.found;
}

TensorView view(std::vector<int64_t> dims, std::vector<int64_t> strides, DType dtype = DType::float32) {
  TensorView v;
  v.rank = static_cast<int32_t>(dims.size());
  v.dtype = dtype;
  std::copy(dims.begin(), dims.end(), v.dims);
  std::copy(strides.begin(), strides.end(), v.strides);
  return v;
}

}  // namespace

TEST_CASE("a binding holds every size, place and choice") {
  const auto result = bound(same, {8, 2});
  REQUIRE_OK(result);
  const Binding& b = *result;
  CHECK(b.arena_bytes == 512 + 1024);
  CHECK(b.prepared_bytes == 512);
  CHECK(b.buffers[8].offset_bytes == 0);
  CHECK(b.buffers[9].offset_bytes == 512 + 256);
  CHECK(b.buffers[0].size_bytes == 8 * 64);
  CHECK(b.inputs[0].dims == std::vector<int64_t>{8, 16});
  CHECK(b.inputs[0].size_bytes == 512);
  REQUIRE(b.run.size() == 7);
  const BoundLaunch& l = b.run[0].launch;
  CHECK(l.choice == 1);
  CHECK(l.grid == std::array<int64_t, 3>{2, 1, 1});
  CHECK(l.flops == 8 * 48);
  CHECK(l.bytes_read == 512);
  CHECK_FALSE(l.skip);
  REQUIRE(l.view_count == 4);
  const BoundView& w = b.views[l.first_view + 1];
  CHECK(w.view.dims[0] == 8);
  CHECK(w.view.strides[0] == 0);
  CHECK(w.view.dims[2] == 1);
  CHECK(w.view.data == nullptr);
  CHECK(b.views[b.run[1].launch.first_view + 1].view.rank == -1);
  CHECK(b.max_scratch_args == 576);
  CHECK(b.blocks.size() == 3);
}

TEST_CASE("guards choose by dims, empty outputs are skipped") {
  auto three = bound(same, {3, 2});
  REQUIRE_OK(three);
  CHECK(three->run[0].launch.choice == 0);
  auto none = bound(same, {0, 2});
  REQUIRE_OK(none);
  CHECK(none->run[0].launch.skip);
  CHECK(none->arena_bytes == 1024);
}

TEST_CASE("prepare is bound before any dim is known, at the same places") {
  Sample s = sample_plan();
  auto file = read_plan_bytes(s.file());
  REQUIRE_OK(file);
  const auto kernels = verify_plan(file->plan, file->code.span(), test_kernels());
  REQUIRE_OK(kernels);
  const auto prepare = bind_prepare(file->plan, *kernels, 0, {});
  REQUIRE_OK(prepare);
  CHECK(prepare->prepare.size() == 2);
  CHECK(prepare->run.empty());
  CHECK(prepare->prepared_bytes == 512);
  CHECK(prepare->buffers[7].offset_bytes == 256);
}

TEST_CASE("symbols outside their range are refused, all at once") {
  const auto result = bound(same, {65, 0});
  REQUIRE_CODE(result, Code::symbol_range);
  REQUIRE(result.error().list().size() == 2);
  CHECK(result.error().list()[0].message == "dim \"batch\" is outside its range");
  CHECK(result.error().list()[0].found == "found 65, allowed 0 .. 64");
}

TEST_CASE("views must stay inside their buffers") {
  const auto change = [](auto&& edit) {
    return [edit](Program& p) {
      ProgramEditor e(p);
      edit(e, p.run.steps[0].launch[0].choices[1].operands[0]);
    };
  };
  const Code code = Code::view_out_of_bounds;
  const std::string at = "/programs/0/run/steps/0: ";
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.offset_bytes = e.number(4); })) ==
        at + "a view [8, 16] of \"x\" from byte 4 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.offset_bytes = e.number(-4); })) ==
        at + "a view [8, 16] of \"x\" from byte -4 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.strides[0] = e.number(17); })) ==
        at + "a view [8, 16] of \"x\" from byte 0 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.strides[0] = e.number(-16); })) ==
        at + "a view [8, 16] of \"x\" from byte 0 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.strides[0] = e.number(INT64_MAX); })) ==
        at + "a view [8, 16] of \"x\" from byte 0 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.strides[0] = e.number(INT64_MIN); })) ==
        at + "a view [8, 16] of \"x\" from byte 0 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) { t.dims[0] = e.number(INT64_MAX); })) ==
        at + "a view [9223372036854775807, 16] of \"x\" from byte 0 leaves its 512 bytes");
  CHECK(refusal(code, change([](ProgramEditor& e, TensorRef& t) {
                  t.dims[0] = e.number(6);
                  t.strides[0] = e.number(0);
                  t.offset_bytes = e.number(2);
                })) == at + "a view of \"x\" is not aligned to its elements");
  CHECK(refusal(Code::plan_malformed, change([](ProgramEditor& e, TensorRef& t) {
                  t.dims[0] = e.number(-1);
                })) == at + "axis 0 of [-1, 16]: a size is -1");
  CHECK(bound([](Program& p) {
          ProgramEditor e(p);
          TensorRef& x = p.run.steps[0].launch[0].choices[1].operands[0];
          x.strides[0] = e.number(-16);
          x.offset_bytes = e.number(7 * 64);
        }).ok());
}

TEST_CASE("an arena buffer stays in its slot and at its alignment") {
  const Code code = Code::view_out_of_bounds;
  CHECK(refusal(code, [](Program& p) { p.buffers[9].offset_bytes = ProgramEditor(p).number(1024); }) ==
        "/programs/0/buffers/9: buffer \"scratch\" of 64 bytes at 1024 is not aligned or leaves its slot of "
        "1024 bytes");
  CHECK(refusal(code, [](Program& p) { p.buffers[9].offset_bytes = ProgramEditor(p).number(64); }) ==
        "/programs/0/buffers/9: buffer \"scratch\" of 64 bytes at 64 is not aligned or leaves its slot of "
        "1024 bytes");
}

TEST_CASE("written tensors overlap nothing but what they are in place of") {
  const Code code = Code::launch_refused;
  CHECK(refusal(code, [](Program& p) {
          p.buffers[9].slot = 0;
          p.buffers[9].offset_bytes = kNoExpr;
        }) == "/programs/0/blocks/2/steps/0: operands \"scratch\" and \"y\" overlap");
  CHECK(refusal(code, [](Program& p) {
          auto& o = p.run.steps[1].launch[0].choices[0].operands;
          o[2].strides = {o[2].strides[0], ProgramEditor(p).number(0)};
        }) == "/programs/0/run/steps/1: elements of operand \"y\" overlap one another");
  CHECK(refusal(code, [](Program& p) {
          auto& o = p.run.steps[1].launch[0].choices[0].operands;
          ProgramEditor e(p);
          o[0].strides[0] = e.number(-16);
          o[0].offset_bytes = e.number(7 * 64);
        }) == "/programs/0/run/steps/1: operands \"y\" and \"x\" overlap");
}

TEST_CASE("a kernel's own check is asked") {
  CHECK(refusal(Code::launch_refused, [](Program& p) {
          p.run.steps[1].launch[0].choices[0].operands[2].dims[0] = ProgramEditor(p).number(1);
        }).find("overlap") != std::string::npos);
  const auto result = bound([](Program& p) {
    auto& o = p.run.steps[1].launch[0].choices[0].operands;
    ProgramEditor e(p);
    o[0].buffer = 0;
    o[0].dims[0] = e.number(1);
  });
  REQUIRE_CODE(result, Code::launch_refused);
  CHECK(result.error().first().message == "x and y differ in shape");
  CHECK(result.error().first().frames ==
        std::vector<std::string>{"while binding step 1, kernel \"scale_reference\", for /nodes/2"});
}

TEST_CASE("grids, blocks and shared memory fit kernel and device") {
  const auto gpu = [](auto&& edit) {
    Sample s = sample_plan();
    edit(s.plan.programs[1]);
    auto file = read_plan_bytes(s.file());
    REQUIRE_OK(file);
    const auto kernels = verify_plan(file->plan, file->code.span(), test_kernels());
    REQUIRE_OK(kernels);
    const auto result = ge::bind(file->plan, *kernels, 1, std::vector<int64_t>{8, 2}, gpu_limits());
    if (result.ok()) return std::string();
    CHECK(result.error().first().code == Code::launch_refused);
    return result.error().first().found;
  };
  const auto wide = [](Program& p) -> Choice& { return p.run.steps[0].launch[0].choices[1]; };
  CHECK(gpu([](Program&) {}) == "");
  CHECK(gpu([&](Program& p) { wide(p).grid[1] = ProgramEditor(p).number(0); }) ==
        "axis 1 of the grid is 0, allowed 1 .. 65535");
  CHECK(gpu([&](Program& p) { wide(p).grid[0] = ProgramEditor(p).number(int64_t{1} << 31); }) ==
        "axis 0 of the grid is 2147483648, allowed 1 .. 2147483647");
  CHECK(gpu([&](Program& p) {
          wide(p).block = {1, 1, 128};
        }) == "axis 2 of the block is 128, allowed 1 .. 64");
  CHECK(gpu([&](Program& p) { wide(p).dynamic_shared_memory = ProgramEditor(p).number(1025); }) ==
        "it asks for 1025 bytes of shared memory, allowed 1024");
  CHECK(gpu([&](Program& p) { wide(p).cluster = {4, 1, 1}; }) == "the grid is no multiple of the cluster");
  CHECK(gpu([&](Program& p) { wide(p).cluster = {2, 1, 1}; }) == "");
}

TEST_CASE("sizes that overflow or exceed the device are told") {
  DeviceLimits small;
  small.memory_bytes = 2000;
  CHECK(refusal(Code::device_memory, same, {8, 2}, small)
            .find("takes the plan past the device's 2000 bytes with batch = 8, extra = 2") !=
        std::string::npos);
  CHECK(refusal(Code::size_overflow,
                [](Program& p) {
                  ProgramEditor e(p);
                  p.slots[1].size_bytes = e.binary(e.symbol(0), ExprOp::kMul, e.number(INT64_MAX));
                }) ==
        "/programs/0/slots/1: scratch memory: batch*9223372036854775807: it overflows 64 bits with "
        "batch = 8 (allowed 0 .. 64)");
  CHECK(refusal(Code::device_memory, [](Program& p) {
          p.slots[1].size_bytes = ProgramEditor(p).number(int64_t{1} << 60);
        }).find("tensor \"scratch\" takes the plan past") != std::string::npos);
}

TEST_CASE("an assertion that does not hold is told with its dims") {
  CHECK(refusal(Code::assertion_failed, [](Program& p) {
          p.assertions[0].predicate.rhs = ProgramEditor(p).number(7);
        }) == "/nodes/0: too many rows: batch <= 7 does not hold: found 8 and 7 with batch = 8, extra = 2");
}

TEST_CASE("a program is bound on its own device only") {
  Sample s = sample_plan();
  auto file = read_plan_bytes(s.file());
  REQUIRE_OK(file);
  const auto kernels = verify_plan(file->plan, file->code.span(), test_kernels());
  REQUIRE_OK(kernels);
  REQUIRE_CODE(ge::bind(file->plan, *kernels, 1, std::vector<int64_t>{8, 2}, DeviceLimits{}),
               Code::no_target);
  REQUIRE_CODE(ge::bind(file->plan, *kernels, 0, std::vector<int64_t>{8, 2}, gpu_limits()), Code::no_target);
}

// ---- solve_symbols ----

namespace {

Program shapes_program() {
  Program p;
  p.target = "cpu";
  p.symbols = {{"batch", 1, 64, 8}, {"seq", 1, INT64_MAX, 16}, {"free", 0, 9, 3}};
  ProgramEditor e(p);
  const ExprId batch = e.symbol(0), seq = e.symbol(1);
  p.signature.inputs = {
      {"x",
       DType::float32,
       {batch, e.binary(e.binary(seq, ExprOp::kMul, e.number(2)), ExprOp::kAdd, e.number(1))},
       0,
       {}},
      {"y", DType::float32, {batch, e.number(4)}, 1, {}}};
  return p;
}
std::string solved(std::vector<std::vector<int64_t>> shapes, Code code) {
  const auto result = solve_symbols(shapes_program(), shapes);
  REQUIRE_CODE(result, code);
  return result.error().first().message + ": " + result.error().first().found;
}

}  // namespace

TEST_CASE("dims are solved from shapes") {
  const auto values = solve_symbols(shapes_program(), std::vector<std::vector<int64_t>>{{3, 11}, {3, 4}});
  REQUIRE_OK(values);
  CHECK(*values == std::vector<int64_t>{3, 5, 3});
}

TEST_CASE("shapes that do not fit are told with names and places") {
  CHECK(solved({{3, 11}, {4, 4}}, Code::symbol_conflict) ==
        "dim \"batch\" has two values: 3 by axis 0 of input \"x\", 4 by axis 0 of input \"y\"");
  CHECK(solved({{3, 11}, {3, 5}}, Code::input_shape) ==
        "input \"y\" has the wrong shape: found [3, 5], the plan takes [batch, 4]: axis 1 is 5");
  CHECK(solved({{3, 10}, {3, 4}}, Code::input_shape) ==
        "input \"x\" has the wrong shape: found [3, 10], the plan takes [batch, seq*2+1]: axis 1 is 10, and "
        "no seq "
        "from 0 up makes seq*2+1 that");
  CHECK(solved({{3}, {3, 4}}, Code::input_shape) ==
        "input \"x\" has the wrong shape: found [3], the plan takes [batch, seq*2+1]");
  CHECK(solved({{65, 3}, {65, 4}}, Code::symbol_range) ==
        "dim \"batch\" is outside its range: 65 by axis 0 of input \"x\", allowed 1 .. 64");
  CHECK(solved({{3, 1}, {3, 4}}, Code::symbol_range) ==
        "dim \"seq\" is outside its range: 0 by axis 1 of input \"x\", allowed 1 and up");
  CHECK(solved({{-3, 3}, {3, 4}}, Code::input_shape) ==
        "input \"x\" has the wrong shape: found [-3, 3], the plan takes [batch, seq*2+1]");
}

namespace {

// One input of the dim `op(a, b)` (b alone for kSymbol), with two symbols that nothing else names.
Program unsolved_program(ExprOp op) {
  Program p;
  p.target = "cpu";
  p.symbols = {{"a", 0, INT64_MAX, 1}, {"b", 0, 9, 1}};
  ProgramEditor e(p);
  p.signature.inputs = {{"x", DType::float32, {e.binary(e.symbol(0), op, e.symbol(1))}, 0, {}}};
  return p;
}
Result<std::vector<int64_t>> unsolved(ExprOp op, int64_t size, std::vector<GivenSymbol> given = {}) {
  const Program p = unsolved_program(op);
  return solve_symbols(p, std::vector<std::vector<int64_t>>{{size}}, given);
}

}  // namespace

TEST_CASE("dims that the shapes do not say must be given") {
  // also where the sizes at opt happen to fit: the other dims would be a guess
  for (const int64_t size : {2, 3}) {
    const auto sum = unsolved(ExprOp::kAdd, size);
    REQUIRE_CODE(sum, Code::symbol_unsolved);
    CHECK(sum.error().list().size() == 1);
    CHECK(sum.error().first().message == "dims \"a\", \"b\" cannot be worked out from the inputs");
    CHECK(sum.error().first().fix == "give all but one of them a value (--dim a=N --dim b=N)");
  }
  const auto one = unsolved(ExprOp::kAdd, 3, {{0, 1}});
  REQUIRE_OK(one);
  CHECK(*one == std::vector<int64_t>{1, 2});
  const auto ratio = unsolved(ExprOp::kFloorDiv, 3, {{1, 2}});
  REQUIRE_CODE(ratio, Code::symbol_unsolved);
  CHECK(ratio.error().first().found ==
        "input \"x\" is [3], the plan takes [a//b]: a//b = 3 with b = 2 (by the value given) does not say "
        "what it is");
  const auto both = unsolved(ExprOp::kFloorDiv, 3, {{0, 7}, {1, 2}});
  REQUIRE_OK(both);
  CHECK(*both == std::vector<int64_t>{7, 2});
  const auto other = unsolved(ExprOp::kFloorDiv, 4, {{0, 7}, {1, 2}});
  REQUIRE_CODE(other, Code::symbol_conflict);
  CHECK(other.error().first().found ==
        "axis 0 is 4; a//b is 3 with a = 7 (by the value given), b = 2 (by the value given)");
  // nothing is asked for where the shape is not given
  const Program p = unsolved_program(ExprOp::kAdd);
  REQUIRE_OK(solve_symbols(p, std::vector<std::vector<int64_t>>{unknown_shape()}));
}

TEST_CASE("a dim of one value is known") {
  Program p = unsolved_program(ExprOp::kAdd);
  p.symbols[0].min = p.symbols[0].max = p.symbols[0].opt = 2;
  const auto values = solve_symbols(p, std::vector<std::vector<int64_t>>{{6}});
  REQUIRE_OK(values);
  CHECK(*values == std::vector<int64_t>{2, 4});
}

TEST_CASE("sizes without a value name the tensor, the axis and the dims") {
  const auto minus = [](Program& p, ExprId from, int64_t less) {
    ProgramEditor e(p);
    return e.binary(from, ExprOp::kSub, e.number(less));
  };
  const auto input =
      bound([&](Program& p) { p.signature.inputs[0].dims[0] = minus(p, p.signature.inputs[0].dims[0], 9); });
  REQUIRE_CODE(input, Code::symbol_range);
  CHECK(input.error().first().message == "input \"x\" has no valid size");
  CHECK(input.error().first().found ==
        "axis 0: batch-9 is -1 with batch = 8 (allowed 0 .. 64); sizes are 0 and up");
  const auto inner = bound([&](Program& p) {
    TensorRef& ref = p.run.steps[1].launch[0].choices[0].operands[0];
    ref.dims[0] = minus(p, ref.dims[0], 9);
  });
  REQUIRE_CODE(inner, Code::symbol_range);
  CHECK(inner.error().first().message == "tensor \"h\" has no valid size");
  CHECK(inner.error().first().found.starts_with("axis 0 of [batch-9, 16]: batch-9 is -1 with batch = 8"));
}

// ---- view_bounds ----

TEST_CASE("byte ranges of strided, reversed and packed views") {
  const auto range = [](const TensorView& v, int64_t offset) {
    const auto r = byte_range(v, offset);
    REQUIRE(r.has_value());
    return std::pair(r->begin, r->end);
  };
  CHECK(range(view({2, 3}, {3, 1}), 8) == std::pair<int64_t, int64_t>(8, 32));
  CHECK(range(view({2, 3}, {-3, 1}), 12) == std::pair<int64_t, int64_t>(0, 24));
  CHECK(range(view({2, 0}, {INT64_MAX, 1}), 8) == std::pair<int64_t, int64_t>(8, 8));
  CHECK(range(view({5}, {0}), 8) == std::pair<int64_t, int64_t>(8, 12));
  CHECK(range(view({3}, {1}, DType::int4), 1) == std::pair<int64_t, int64_t>(1, 3));
  CHECK_FALSE(byte_range(view({INT64_MAX, 2}, {1, INT64_MAX}), 0).has_value());
  CHECK_FALSE(byte_range(view({2}, {INT64_MIN}), 0).has_value());
}

TEST_CASE("overlap sees through interleaved slices") {
  const TensorView left = view({4, 3}, {8, 1}), right = view({4, 5}, {8, 1});
  CHECK_FALSE(views_overlap(left, 0, right, 12));
  CHECK(views_overlap(left, 0, right, 8));
  CHECK_FALSE(views_overlap(view({2, 3, 2}, {24, 8, 1}), 0, view({2, 3, 6}, {24, 8, 1}), 8));
  CHECK(views_overlap(view({4}, {1}), 0, view({4}, {1}), 12));
  CHECK_FALSE(views_overlap(view({4}, {1}), 0, view({4}, {1}), 16));
  CHECK_FALSE(views_overlap(view({4, 0}, {1, 1}), 0, view({4}, {1}), 0));
  CHECK_FALSE(overlaps_itself(view({4, 3}, {3, 1})));
  CHECK_FALSE(overlaps_itself(view({3, 4}, {1, 3})));
  CHECK_FALSE(overlaps_itself(view({4, 3}, {-8, 2})));
  CHECK(overlaps_itself(view({4, 3}, {2, 1})));
  CHECK(overlaps_itself(view({4}, {0})));
  CHECK_FALSE(overlaps_itself(view({1}, {0})));
}
