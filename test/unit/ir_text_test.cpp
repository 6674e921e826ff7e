// IR text: what is printed parses back to the same graph, and each syntax error has its place.
#include <random>

#include "catch.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

using namespace ge;

namespace {
std::string round_trip(const Graph& g) {
  const PrintOptions all{true, INT64_MAX};
  const std::string text = print(g, all);
  const auto again = parse_ir(text);
  INFO(text);
  REQUIRE_OK(again);
  CHECK(print(*again, all) == text);
  for (ValueId v = 0; v < again->value_capacity(); ++v) CHECK(again->value(v).alive);
  return text;
}

std::string syntax_error(const std::string& text) {
  const auto g = parse_ir(text, "t.ir");
  REQUIRE_CODE(g, Code::ir_syntax);
  return g.error().first().place + " " + g.error().first().found;
}
}  // namespace

TEST_CASE("a graph prints as people read it") {
  Graph g;
  g.name = "tiny";
  g.symbols["batch"] = {1, 64, 8};
  g.symbols["seq"] = {};
  const ValueId x = g.add_input("x", {DType::float32, {Dim::symbol("batch"), 16}});
  Builder b(g, {{"/nodes/2", "graph.json:14:5", "act"}});
  const ValueId w = b.constant(splat(DType::float32, {16, 4}, 0.5));
  g.value(w).name = "w";
  const ValueId h = b.op(Op::dot, {x, w});
  const ValueId y = b.op(Op::softmax, {h}, {{"axis", int64_t{1}}});
  g.value(y).name = "y/softmax:0";
  g.add_output(y, "y");
  CHECK(print(g) == R"(graph @tiny (%x: float32[batch, 16]) symbols(batch 1..64 opt 8, seq 0.. opt 1) {
  %w = constant float32[16, 4] splat 0.5  // /nodes/2
  %0 = dot(%x, %w) : float32[batch, 4]  // /nodes/2
  %"y/softmax:0" = softmax(%0) {axis = 1} : float32[batch, 4]  // /nodes/2
  return %"y/softmax:0" as "y"
}
)");
  round_trip(g);
}

TEST_CASE("everything that a graph can hold survives the round trip") {
  const char* text =
      R"(graph @"odd name" (%x: float32[n, 4], %"1": int64[], %2: bool[2*'my dim' + 1]) symbols('my dim' 0.. opt 1, n 2..9 opt 4) {
  assert n == 2*'my dim' "they \"must\" be equal"  // /nodes/7
  %c = constant float32[5] [1.5, -0.0, nan, -inf, 0x7fc00001]
  %d = constant float64[2] [0.1, 1e-300]
  %e = constant float16[3] [0.1, 65504.0, 6e-08]
  %i = constant uint64[1] [18446744073709551615]
  %j = constant int4[3] [-8, 7, 0]
  %k = constant bool[2] [true, false]
  %l = constant int64[0, 3] []
  %m = constant bfloat16[] splat 3.0
  %n = reduce(%x) {axes = [], kind = "sum"} : float32[n, 4]  // /nodes/3 + "a b"
  %o = normalize(%n, _, %x) {axis = 1, epsilon = 1e-05, kind = "layer"} : float32[n, 4]
  %p = iota() {axis = 0, dtype = int32, shape = [n, 2*n]} : int32[n, 2*n]
  %q, %0 = onnx."com.microsoft".Split@13(%o) {big = 3.0, d = dims[n, 4], es = strings[], f = [1.0, 2.5], g = doubles[], s = ["a", "b\n"], t = float16, v = tensor float32[1] [2.0], z = [1, 2]} : float32[n, 2], float32[n, 2]
  %r = onnx.Relu@1(%q) : float32[n, 2]
  %s = fused(%o, %o) {kind = "loop"} : float32[n, 4] body (%0: float32[n, 4], %a: float32[n, 4]) {
    %1 = add(%0, %a) : float32[n, 4]
    %b = tanh(%1) : float32[n, 4]
    return %b
  }  // /nodes/4
  return %s as "s", %r as "r", %s as "again"
}
)";
  const auto g = parse_ir(text);
  REQUIRE_OK(g);
  // Nameless values are numbered in the order of the text: %2 is the first.
  std::string expected = text;
  expected.replace(expected.find("%2: bool"), 2, "%0");
  expected.replace(expected.find("%0 = onnx"), 2, "%1");
  CHECK(round_trip(*g) == expected);
  CHECK(g->node(g->value(g->outputs[0]).producer).body->live_nodes() == 2);
}

TEST_CASE("long constants print as a hash and cannot be parsed back") {
  Graph g;
  Builder b(g, {});
  g.add_output(b.constant(tensor_of(std::vector<int64_t>(17, 3))), "y");
  const std::string text = print(g);
  CHECK_THAT(text, test::contains("constant int64[17] bytes "));
  CHECK_THAT(syntax_error(text), test::contains("the text holds this constant's hash, not its elements"));
}

TEST_CASE("a line may come before what it uses, if it states its types") {
  const auto g =
      parse_ir("graph (%x: float32[4]) { %y = exp(%z) : float32[4]  %z = tanh(%x) return %y as \"y\" }");
  REQUIRE_OK(g);
  REQUIRE_OK(verify(*g, true));
  CHECK(print(*g) ==
        "graph (%x: float32[4]) {\n  %z = tanh(%x) : float32[4]\n  %y = exp(%z) : float32[4]\n  return %y as "
        "\"y\"\n}\n");
  CHECK(syntax_error("graph (%x: float32[4]) {\n%y = exp(%z)\n%z = tanh(%x)\nreturn %y }") ==
        "t.ir:2:10 value %z is not defined before this line, which must then state its types");
}

TEST_CASE("syntax errors name the place and what was expected") {
  CHECK(syntax_error("") == "t.ir:1:1 found the end of the text where 'graph' is expected");
  CHECK(syntax_error("graph (%x float32[4])") == "t.ir:1:11 found 'float32' where ':' is expected");
  CHECK(syntax_error("graph (%x: floaty[4])") == "t.ir:1:12 \"floaty\" is no element type");
  CHECK(syntax_error("graph (%x: int8[4 5])") ==
        "t.ir:1:17 found \"4 5\": '5' at character 3 where an operator or the end is expected");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  %y = reluu(%x)\n  return %y\n}") ==
        "t.ir:2:8 \"reluu\" is no op; the nearest is relu");
  CHECK(syntax_error("graph (%xs: int8[4]) {\n  %y = relu(%xz) : int8[4]\n  return %y\n}") ==
        "t.ir:2:13 value %xz is not defined; the nearest is %xs");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  %x = relu(%x)\n  return %x\n}") ==
        "t.ir:2:3 value %x is defined twice");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  return %x\n") ==
        "t.ir:3:1 found the end of the text where '}' is expected");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  relu(%x)\n") ==
        "t.ir:2:3 found 'relu' where a node, assert or return is expected");
  CHECK(syntax_error("graph () {\n  %c = constant int8[2] [1, 300]\n  return\n}") ==
        "t.ir:2:29 \"300\" is no int8");
  CHECK(syntax_error("graph () {\n  %c = constant int8[2] [1]\n  return\n}") ==
        "t.ir:2:27 found ']' where ',' is expected");
  CHECK(syntax_error("graph () {\n  %c = constant int8[n] [1]\n  return\n}") ==
        "t.ir:2:17 the shape of a constant must be known and not negative");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  %y = reduce(%x) {kind = oops}\n") ==
        "t.ir:2:27 \"oops\" is no attribute value");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  %y = relu(%x) {a = 1, a = 2}\n") ==
        "t.ir:2:25 attribute a appears twice");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  %y, %z = relu(%x)\n return }") ==
        "t.ir:2:3 found 2 results and 1 types");
  CHECK(syntax_error("graph (%x: int8[4]) {\n  %y = onnx.Relu@1(%x)\n return }") ==
        "t.ir:2:8 an onnx node must state its types");
  CHECK(syntax_error("graph () symbols(n 5..2) { return }") == "t.ir:1:18 the range is empty or below 0");
  CHECK(syntax_error("graph @\"a { return }") ==
        "t.ir:1:21 found the end of the text where the closing quote is expected");
  CHECK(syntax_error("graph () { return } x") == "t.ir:1:21 found 'x' where the end of the text is expected");
  std::string deep;
  for (int i = 0; i < 50; ++i) deep += "graph () { %y = onnx.If@1() {a = ";
  CHECK_THAT(syntax_error(deep), test::contains("graphs are nested more than 16 deep"));
}

TEST_CASE("a type error of a line without types is told with its own code and place") {
  const auto g =
      parse_ir("graph (%x: float32[4], %y: float32[5]) {\n  %z = add(%x, %y)\n  return %z\n}", "t.ir");
  REQUIRE_CODE(g, Code::shape_mismatch);
  CHECK(g.error().first().place == "t.ir:2:8");
}

TEST_CASE("broken text never crashes the parser") {
  const std::string good =
      "graph @t (%x: float32[n, 4]) symbols(n 1..64 opt 8) {\n  assert n == 4 \"m\"\n"
      "  %c = constant float32[2] [1.0, nan]\n  %s = slice(%x) {starts = [0, 1], steps = [1, 1], shape = [n, "
      "2]} : float32[n, 2]\n"
      "  %y = fused(%s) {kind = \"loop\"} : float32[n, 2] body (%0: float32[n, 2]) {\n    %b = tanh(%0) : "
      "float32[n, 2]\n"
      "    return %b\n  }\n  return %y as \"y\"\n}\n";
  REQUIRE_OK(parse_ir(good));
  for (size_t cut = 0; cut < good.size(); ++cut) (void)parse_ir(good.substr(0, cut));
  std::mt19937 rng(7);
  const std::string bytes = "%{}[]()\",:=@/._-09anx\n\\'";
  int parsed = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = good;
    for (unsigned edits = 1 + rng() % 3; edits > 0; --edits)
      text[rng() % text.size()] = bytes[rng() % bytes.size()];
    const auto g = parse_ir(text);
    if (!g.ok()) continue;
    (void)verify(*g, true);
    round_trip(*g);
    ++parsed;
  }
  CHECK(parsed > 50);
}

TEST_CASE("dot output names nodes and edges") {
  const auto g =
      parse_ir("graph @g (%x: float32[4]) { %y = exp(%x) : float32[4] // /nodes/0\n return %y as \"out\" }");
  REQUIRE_OK(g);
  CHECK(to_dot(*g) == R"(digraph "g" {
  rankdir=TB;
  node [shape=box, fontname="Helvetica"];
  v0 [shape=ellipse, label="x\nfloat32[4]"];
  n0 [label="exp\n/nodes/0"];
  v0 -> n0 [label="float32[4]"];
  o0 [shape=ellipse, label="out"];
  n0 -> o0;
}
)");
}
