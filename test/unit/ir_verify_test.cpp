// The verifier: each rule by name, on a graph that breaks that one alone.
#include "catch.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

using namespace ge;

namespace {
Graph graph_of(const std::string& text) {
  auto g = parse_ir(text);
  REQUIRE_OK(g);
  return std::move(g).value();
}
Graph sample() {
  return graph_of(
      "graph (%x: float32[n, 4]) symbols(n 1..8 opt 2) { %y = exp(%x) // /nodes/0\n %z = reduce(%y) {kind = "
      "\"sum\", axes = [1]} return %z as \"z\" }");
}
std::string violation(const Graph& g, bool core_only = true) {
  const Status s = verify(g, core_only);
  REQUIRE_CODE(s, Code::verify_failed);
  CHECK(s.error().list().size() == 1);
  return s.error().first().message;
}
}  // namespace

TEST_CASE("a sound graph verifies") {
  REQUIRE_OK(verify(sample(), true));
}

TEST_CASE("verifier rules") {
  Graph g = sample();
  SECTION("single-producer") {
    g.node(1).results.push_back(g.node(0).results[0]);
    CHECK(violation(g) == "[single-producer] %y is not made by reduce alone");
  }
  SECTION("operands-defined") {
    g.node(1).operands[0] = 77;
    const Status s = verify(g, true);
    REQUIRE_CODE(s, Code::verify_failed);
    CHECK(s.error().first().message ==
          "[operands-defined] operand 0 of the reduce that gives %z is not defined");
  }
  SECTION("uses-consistent") {
    g.node(1).operands[0] = g.inputs[0];
    CHECK(violation(g) == "[uses-consistent] the recorded uses of %x are not its real ones");
  }
  SECTION("outputs-named") {
    g.output_names[0] = "";
    CHECK(violation(g) == "[outputs-named] output name \"\" is empty or used twice");
  }
  SECTION("acyclic") {
    g.set_operand(0, 0, g.node(1).results[0]);
    CHECK(violation(g) ==
          "[acyclic] 2 nodes are on a cycle or behind one: exp that gives %y, reduce that gives %z");
  }
  SECTION("types-inferred") {
    g.value(g.outputs[0]).type.dims = {4};
    CHECK(violation(g) == "[types-inferred] reduce that gives %z is float32[n], stated as float32[4]");
  }
  SECTION("known-attributes") {
    g.node(1).attrs["size"] = int64_t{1};
    CHECK(violation(g) ==
          "[known-attributes] reduce that gives %z: found \"size\"; allowed: kind, axes, select_last");
  }
  SECTION("unique-names") {
    g.value(g.outputs[0]).name = "y";
    CHECK(violation(g) == "[unique-names] two values are called %y");
  }
  SECTION("contents of the wrong size") {
    g.value(g.outputs[0]).contents = Dims{1, 2};
    CHECK(violation(g) == "[contents-match] %z has 2 known elements; its type is float32[n]");
  }
  SECTION("the source is named") {
    g.node(0).attrs["size"] = int64_t{1};
    const Status s = verify(g, true);
    REQUIRE_FALSE(s.ok());
    CHECK(s.error().first().path == "/nodes/0");
  }
}

TEST_CASE("contents must be what the node computes") {
  Graph g = graph_of("graph () symbols(n) { %d = dims() {values = [n, 4]} return %d as \"d\" }");
  REQUIRE_OK(verify(g, true));
  g.value(g.outputs[0]).contents = Dims{Dim::symbol("n"), 5};
  CHECK(violation(g) == "[contents-match] dims that gives %d holds [n, 4], stated as [n, 5]");
}

TEST_CASE("onnx nodes are refused where only core ops may be") {
  const Graph g =
      graph_of("graph (%x: float32[4]) { %y = onnx.Relu@13(%x) : float32[4] return %y as \"y\" }");
  REQUIRE_OK(verify(g, false));
  CHECK(violation(g) == "[no-onnx] the operator Relu is left");
}

TEST_CASE("bodies: signature, and the outer graph's assertions") {
  const std::string text =
      "graph (%x: float32[n], %y: float32[m]) symbols(m, n) { ASSERT %z = fused(%x, %y) {kind = \"loop\"} : "
      "float32[n] body (%a: float32[n], %b: float32[m]) "
      "{ %c = add(%a, %b) : float32[n] return %c } return %z as \"z\" }";
  std::string asserted = text;
  asserted.replace(asserted.find("ASSERT"), 6, "assert n == m \"equal\"\n");
  Graph g = graph_of(asserted);
  REQUIRE_OK(verify(g, true));
  std::string bare = text;
  bare.erase(bare.find("ASSERT"), 6);
  CHECK(violation(graph_of(bare)) == "[types-inferred] add that gives %c needs the assertion n == m");
  g.node(0).body->value(g.node(0).body->inputs[0]).type.dtype = DType::float16;
  const Status s = verify(g, true);
  REQUIRE_CODE(s, Code::verify_failed);
  CHECK(s.error().list().back().message ==
        "[body-signature] the body's inputs and outputs are not those of the fused that gives %z");
}
