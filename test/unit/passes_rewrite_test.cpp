// What golden files cannot show: linear work on large graphs, sources through rewrites, one evaluation for
// all constants.
#include "catch.h"
#include "compiler/codegen/loop_code.h"
#include "compiler/codegen/loop_nest.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "numeric/convert.h"
#include "work_time.h"

using namespace ge;
using namespace ge::test;

namespace {
Graph parse(const std::string& text) {
  auto g = parse_ir(text);
  REQUIRE_OK(g);
  return std::move(g).value();
}
}  // namespace

TEST_CASE("passes over 50,000 nodes take linear time") {
  Graph g;
  ValueId v = g.add_input("x", {DType::float32, {Dim::symbol("n"), 4}});
  Builder b(g, {});
  const ValueId one = b.broadcast(b.scalar(DType::float32, 1), g.type(v).dims);
  for (int i = 0; i < 25000; ++i) v = b.op(Op::exp, {b.op(Op::mul, {v, one})});
  g.add_output(v, "y");
  REQUIRE_OK(b.take());
  int calls = 0;
  const Evaluator evaluator = [&](const Graph&, const std::vector<HostTensor>&,
                                  const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
    ++calls;
    return fail(Code::internal).because("there is nothing to evaluate");
  };
  PassContext context;
  context.evaluate = &evaluator;
  CHECK(seconds_of([&] {
          REQUIRE_OK(canonicalize(g, context));
          REQUIRE_OK(fold_constants(g, context));
          REQUIRE_OK(eliminate_common_subexpressions(g, context));
          REQUIRE_OK(eliminate_dead_nodes(g, context));
          REQUIRE_OK(fold_batch_norm(g, context));
        }) < 10);
  CHECK(g.live_nodes() == 25000);
  CHECK(calls == 0);
  REQUIRE_OK(verify(g, true));
}

TEST_CASE("all constants are folded by one call of the evaluator") {
  Graph g = parse(R"(graph (%x: float32[2]) {
    %a = constant float32[2] [1.0, 4.0]
    %b = sqrt(%a) : float32[2]
    %c = add(%x, %b) : float32[2]
    %d = neg(%b) : float32[2]
    %e = mul(%c, %d) : float32[2]
    return %e as "y"
  })");
  int calls = 0;
  const Evaluator evaluator = [&](const Graph& built, const std::vector<HostTensor>& inputs,
                                  const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
    ++calls;
    CHECK(built.live_nodes() == 2);
    CHECK(inputs.size() == 1);
    std::vector<HostTensor> out;
    for (size_t i = 0; i < built.outputs.size(); ++i)
      out.push_back({DType::float32, {2}, ByteBuffer::copy_of(inputs[0].bytes.span())});
    return out;
  };
  PassContext context;
  context.evaluate = &evaluator;
  REQUIRE_OK(fold_constants(g, context));
  CHECK(calls == 1);
  CHECK(g.live_nodes() == 4);
  REQUIRE_OK(verify(g, true));
}

TEST_CASE("a large weight times a broadcast scale is folded, a large broadcast is not") {
  Graph g;
  const ValueId x = g.add_input("x", {DType::float32, {700, 700}});
  Builder b(g, {});
  const auto numbers = [&](std::vector<int64_t> dims, size_t count) {
    return b.constant({DType::float32, std::move(dims),
                       std::make_shared<const ByteBuffer>(ByteBuffer::allocate(count * 4, true)), false,
                       nullptr});
  };
  const ValueId scale = b.broadcast(b.op(Op::exp, {numbers({700, 1}, 700)}), {700, 700});
  const ValueId weight = b.op(Op::mul, {numbers({700, 700}, 490000), scale});
  g.add_output(b.op(Op::add, {x, weight}), "y");
  const ValueId copies = b.op(Op::mul, {b.broadcast(numbers({700}, 700), {700, 700}), scale});
  g.add_output(b.op(Op::add, {x, copies}), "z");
  REQUIRE_OK(b.take());
  size_t folded = 0;
  const Evaluator evaluator = [&](const Graph& built, const std::vector<HostTensor>&,
                                  const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
    std::vector<HostTensor> out;
    for (const ValueId v : built.outputs) {
      folded += built.type(v).dims == Dims{700, 700} ? 1 : 0;
      auto tensor = make_host_tensor(DType::float32, *static_values(built.type(v).dims), true);
      REQUIRE_OK(tensor);
      out.push_back(std::move(tensor).value());
    }
    return out;
  };
  PassContext context;
  context.evaluate = &evaluator;
  REQUIRE_OK(fold_constants(g, context));
  CHECK(folded == 1);
  REQUIRE_OK(verify(g, true));
}

TEST_CASE("a fault while folding that the run will meet too is noted, not fatal") {
  Graph g =
      parse("graph () { %a = constant float32[2] [1.0, 4.0]  %b = neg(%a) : float32[2] return %b as \"y\" }");
  const Evaluator evaluator = [](const Graph&, const std::vector<HostTensor>&,
                                 const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
    return fail(Code::assertion_failed).say("gather");
  };
  PassContext context;
  context.evaluate = &evaluator;
  REQUIRE_OK(fold_constants(g, context));
  CHECK(context.notes == std::vector<std::string>{"constants are not folded: gather"});
  const Evaluator broken = [](const Graph&, const std::vector<HostTensor>&,
                              const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
    return fail(Code::internal).because("ours");
  };
  context.evaluate = &broken;
  REQUIRE_CODE(fold_constants(g, context), Code::internal);
  // indices of constants are out of range at every run
  const Evaluator outside = [](const Graph&, const std::vector<HostTensor>&,
                               const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
    return fail(Code::index_out_of_range);
  };
  context.evaluate = &outside;
  REQUIRE_CODE(fold_constants(g, context), Code::index_out_of_range);
}

TEST_CASE("an index that folding makes known and out of range is told") {
  const auto folded = [](int64_t index) {
    Graph g = parse(
        "graph (%x: float32[n, 4]) symbols(n 1..8) { %c = constant float32[1] [0.5]  %i = cast(%c) {to = "
        "int64} : int64[1]  %y = gather(%x, %i) {axis = 0} : float32[1, 4] return %y as \"y\" }");
    const Evaluator evaluator =
        [&](const Graph&, const std::vector<HostTensor>&,
            const std::map<std::string, int64_t>&) -> Result<std::vector<HostTensor>> {
      std::vector<HostTensor> out;
      out.push_back(make_host_tensor(DType::int64, {1}).value());
      store_from_int64(DType::int64, out[0].bytes.data(), 0, index);
      return out;
    };
    PassContext context;
    context.evaluate = &evaluator;
    return fold_constants(g, context);
  };
  REQUIRE_OK(folded(7));
  REQUIRE_OK(folded(-8));
  for (const int64_t index : {8, -9}) {
    const Status status = folded(index);
    REQUIRE_CODE(status, Code::index_out_of_range);
    CHECK(status.error().first().found ==
          "found " + std::to_string(index) + " at [0] of the indices; the axis has n elements");
  }
}

TEST_CASE("a table of indices that the model holds is not read again") {
  Graph g;
  const ValueId x = g.add_input("x", {DType::float32, {Dim::symbol("n"), 4}});
  int reads = 0;
  TensorData table;
  table.dtype = DType::int64;
  table.dims = {1000};
  table.load = std::make_shared<const std::function<Result<ByteBuffer>()>>([&] {
    ++reads;
    return Result<ByteBuffer>(ByteBuffer::allocate(8000, true));
  });
  Builder b(g, {});
  g.add_output(b.op(Op::gather, {x, b.constant(std::move(table))}, {{"axis", int64_t{0}}}), "y");
  REQUIRE_OK(b.take());
  PassContext context;
  REQUIRE_OK(fold_constants(g, context));
  CHECK(reads == 0);
}

TEST_CASE("uniform constants are seen through moves, by their bits") {
  const Graph g = parse(R"(graph () symbols(n) {
    %a = constant float32[2] splat -0.0
    %b = broadcast(%a) {shape = [n, 2]} : float32[n, 2]
    %c = transpose(%b) {perm = [1, 0]} : float32[2, n]
    %d = constant float32[2] [1.0, 1.0]
    %e = constant int32[1] [3]
    return %c as "c", %d as "d", %e as "e"
  })");
  CHECK(is_uniform(g, g.outputs[0], -0.0));
  CHECK_FALSE(is_uniform(g, g.outputs[0], 0.0));
  CHECK(uniform_constant(g, g.outputs[1]) == nullptr);  // equal by chance, not by form
  CHECK(is_uniform(g, g.outputs[2], 3));
}

TEST_CASE("types that are only asserted equal are not exchanged") {
  Graph g = parse(
      "graph (%x: float32[n], %y: float32[5]) symbols(n) { %a = exp(%x) %b = exp(%y) return %a as \"a\", %b "
      "as \"b\" }");
  CHECK_FALSE(replace_value(g, g.outputs[0], g.outputs[1]));
  CHECK(g.outputs[0] != g.outputs[1]);
}

TEST_CASE("loops grow by work that is a small multiple of their nodes") {
  const auto work = [](size_t nodes) {
    Graph g;
    ValueId v = g.add_input("x", {DType::float32, {Dim::symbol("n"), 4}});
    const ValueId w = g.add_input("w", {DType::float32, {Dim::symbol("n"), 4}});
    Builder b(g, {});
    for (size_t i = 0; i < nodes; ++i) v = i % 7 == 3 ? b.op(Op::add, {v, w}) : b.op(Op::tanh, {v});
    g.add_output(v, "y");
    REQUIRE_OK(b.take());
    PassContext context;
    REQUIRE_OK(fuse_elementwise(g, context));
    CHECK(g.live_nodes() == (nodes + 95) / 96);
    return context.nest_nodes;
  };
  CHECK(work(20000) < 3 * 20000);
  CHECK(work(20000) < 2.1 * static_cast<double>(work(10000)));
}

TEST_CASE("a sum of thousands of operands is cut into loops without trying each cut") {
  Graph g;
  Builder b(g, {});
  const Type type{DType::float32, {4, 4}};
  ValueId v = g.add_input("x", type);
  for (int i = 0; i < 3000; ++i) v = b.op(Op::add, {v, g.add_input("x" + std::to_string(i), type)});
  g.add_output(v, "y");
  REQUIRE_OK(b.take());
  PassContext context;
  REQUIRE_OK(fuse_elementwise(g, context));
  CHECK(context.nest_nodes < 10 * 3000);
}

// As Sum of so many operands is lowered. By squares of 100,000 this would be many minutes.
TEST_CASE("values with 100,000 uses, and a sum of as many, are merged and fused in linear time") {
  constexpr int kOperands = 100000;
  Graph g;
  const Type type{DType::float32, {Dim::symbol("n"), 4}};
  const ValueId x = g.add_input("x", type), bias = g.add_input("bias", {DType::float32, {4}});
  Builder b(g, {});
  ValueId v = x;
  const ValueId square = b.op(Op::mul, {x, x});
  for (int i = 0; i < kOperands / 4; ++i)
    for (const ValueId next : {square, b.broadcast(bias, type.dims), b.op(Op::mul, {x, x}), x})
      v = b.op(Op::add, {v, next});
  g.add_output(v, "y");
  REQUIRE_OK(b.take());
  PassContext context;
  CHECK(seconds_of([&] {
          REQUIRE_OK(canonicalize(g, context));
          REQUIRE_OK(eliminate_common_subexpressions(g, context));
          CHECK(g.live_nodes() == kOperands + 2);
          REQUIRE_OK(fuse_elementwise(g, context));
        }) < 60);
  CHECK(context.nest_nodes < 10 * kOperands);
  CHECK(g.live_nodes() < kOperands / 80);
  REQUIRE_OK(verify(g, true));
}

TEST_CASE("many readers of one tensor join in a few loops, by work that is a small multiple of them") {
  const auto work = [](size_t readers) {
    Graph g;
    Builder b(g, {});
    const ValueId x = g.add_input("x", {DType::float32, {Dim::symbol("n"), 4}});
    for (size_t i = 0; i < readers; ++i)
      g.add_output(b.op(i % 2 == 0 ? Op::tanh : Op::exp, {x}), "y" + std::to_string(i));
    REQUIRE_OK(b.take());
    PassContext context;
    REQUIRE_OK(fuse_elementwise(g, context));
    CHECK(g.live_nodes() < readers / 4);
    return context.nest_nodes;
  };
  CHECK(work(4000) < 40 * 4000);
}

TEST_CASE("a GPU's loops of long functions are cut by their code, and a note says so") {
  struct Cut {
    std::vector<int64_t> code;  // of each loop
    std::vector<std::string> notes;
  };
  const auto cut = [](Op op, DType dtype, size_t nodes, bool for_cuda) {
    Graph g;
    ValueId v = g.add_input("x", {dtype, {Dim::symbol("n"), 4}});
    Builder b(g, {{"/nodes/7", "", ""}});
    for (size_t i = 0; i < nodes; ++i) v = b.op(op, {v});
    g.add_output(v, "y");
    REQUIRE_OK(b.take());
    PassContext context;
    context.for_cuda = for_cuda;
    REQUIRE_OK(fuse_elementwise(g, context));
    REQUIRE_OK(verify(g, true));
    Cut result{{}, context.notes};
    for (const NodeId id : g.order())
      if (const Node& node = g.node(id); node.op == Op::fused)
        result.code.push_back(loop_code(build_loop_nest(*node.body, false)->program));
    CHECK(result.code.size() == g.live_nodes());
    return result;
  };
  for (const Op op : {Op::sin, Op::tan, Op::asinh, Op::gelu, Op::softplus})
    for (const DType dtype : {DType::float16, DType::float32, DType::float64}) {
      const Cut cuda = cut(op, dtype, 200, true);
      INFO(name_of(op) << " " << name_of(dtype));
      int64_t total = 0;
      for (const int64_t code : cuda.code) {
        CHECK(code <= kMostLoopCode);
        total += code;
      }
      CHECK(cuda.code.size() > 3);
      CHECK(static_cast<int64_t>(cuda.code.size()) <= total / kMostLoopCode * 5 / 4 + 2);  // each nearly full
      REQUIRE(cuda.notes.size() == 1);
      CHECK_THAT(cuda.notes[0], test::contains("the first at /nodes/7"));
      CHECK(cut(op, dtype, 200, false).code.size() == 3);  // the CPU's, by their nodes
      CHECK(cut(op, dtype, 200, false).notes.empty());
      CHECK(cut(op, dtype, 8, true).code.size() == 1);
      CHECK(cut(op, dtype, 8, true).notes.empty());
    }
  CHECK(cut(Op::neg, DType::float32, 200, true).code.size() == 3);
}

TEST_CASE("a batch of nodes that does not fit is taken back, copies too") {
  Graph g =
      parse(R"(graph (%x: float32[n, 4], %w: float32[4, n], %z: float32[4, n, 3]) symbols(n 1..64 opt 32) {
    %t = transpose(%w) {perm = [1, 0]} : float32[n, 4]
    %a = exp(%x) : float32[n, 4]
    %b = add(%a, %t) : float32[n, 4]
    %r = reduce(%z) {axes = [2], kind = "sum"} : float32[4, n]
    %rt = transpose(%r) {perm = [1, 0]} : float32[n, 4]
    %c = mul(%b, %rt) : float32[n, 4]
    %m = reduce(%c) {axes = [1], kind = "max"} : float32[n]
    %mb = reshape(%m) {shape = [n, 1]} : float32[n, 1]
    %mc = broadcast(%mb) {shape = [n, 4]} : float32[n, 4]
    %d = sub(%c, %mc) : float32[n, 4]
    %e = tanh(%d) : float32[n, 4]
    return %e as "e", %t as "t", %rt as "rt"
  })");
  PassContext context;
  REQUIRE_OK(fuse_elementwise(g, context));
  REQUIRE_OK(verify(g, true));
  size_t loops = 0;
  for (const NodeId id : g.order()) loops += g.node(id).op == Op::fused ? 1 : 0;
  CHECK(loops == 2);  // rows of 4, and rows of 3 before them
}
