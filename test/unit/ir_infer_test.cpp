// Type inference: the rule of each core op, and the text of each refusal. Written as IR: types left out are
// inferred.
#include "catch.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

using namespace ge;

namespace {
const std::string kInputs =
    "graph @t (%x: float32[n, 4], %y: float32[4, 8], %z: float32[n, 8], %i: int64[3], %b: bool[n, 4], %img: "
    "float32[n, 3, 9, 9],"
    " %w: float32[6, 3, 3, 3], %s: float32[m, 4], %h: float16[n, 4], %v: float32[4]) symbols(n 1..64 opt 8, "
    "m) {\n";

// The type of "%r = <line>"; or the error's "code: found".
std::string infer(const std::string& line, std::vector<Graph::Assertion>* assertions = nullptr) {
  const auto g = parse_ir(kInputs + "%r = " + line + "\nreturn %r as \"r\"\n}");
  if (!g.ok()) {
    const Diagnostic& d = g.error().first();
    return code_string(d.code) + " " + d.found;
  }
  REQUIRE_OK(verify(*g, true));
  if (assertions != nullptr) *assertions = g->assertions;
  return to_string(g->type(g->outputs[0]));
}
}  // namespace

TEST_CASE("maps") {
  CHECK(infer("add(%x, %x)") == "float32[n, 4]");
  CHECK(infer("less(%x, %x)") == "bool[n, 4]");
  CHECK(infer("select(%b, %x, %x)") == "float32[n, 4]");
  CHECK(infer("add(%x, %h)") ==
        "E0308 input 0 is float32[n, 4], input 1 is float16[n, 4]; they must have one dtype");
  CHECK(infer("add(%x, %z)") == "E0310 axis 1 of inputs 0 and 1 differ: 4 and 8");
  CHECK(infer("add(%x, %v)") == "E0310 inputs 0 and 1 differ in rank: [n, 4] and [4]");
  CHECK(infer("exp(%i)") == "E0307 input 0 is int64[3]; allowed: floating point");
  CHECK(infer("logical_not(%x)") == "E0307 input 0 is float32[n, 4]; allowed: bool");
  CHECK(infer("select(%x, %x, %x)") == "E0307 the condition is float32[n, 4]; allowed: bool");
  CHECK(infer("add(%x)") == "E0306 found 1 inputs; allowed 2");
  CHECK(infer("add(%x, _)") == "E0306 input 1 is absent; it is required");
  CHECK(infer("add(%x, %x) {axis = 1}") == "E0302 found \"axis\"; allowed: none");
}

TEST_CASE("dims that may be equal become assertions") {
  std::vector<Graph::Assertion> assertions;
  CHECK(infer("add(%x, %s)", &assertions) == "float32[n, 4]");
  REQUIRE(assertions.size() == 1);
  CHECK(assertions[0].lhs == Dim::symbol("n"));
  CHECK(assertions[0].rhs == Dim::symbol("m"));
  CHECK(assertions[0].message == "add: axis 0 of inputs 0 and 1 must be equal");
  CHECK(infer("reshape(%x) {shape = [m, 2]}", &assertions) == "float32[m, 2]");
  CHECK(assertions.size() == 1);
  const Type a{DType::float32, {Dim::symbol("n")}}, b{DType::float32, {5}};
  const Type* both[] = {&a, &b};
  REQUIRE_CODE(infer_types(Op::add, both, {}, nullptr, nullptr, nullptr), Code::shape_mismatch);
  std::vector<Graph::Assertion> needed;
  const auto types = infer_types(Op::add, both, {}, nullptr, nullptr, &needed);
  REQUIRE_OK(types);
  CHECK(to_string((*types)[0]) == "float32[5]");
}

TEST_CASE("assertions imply their multiples") {
  Graph g;
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  g.add_assertion({n, m, "", {}});
  g.add_assertion({m, n, "", {}});
  g.add_assertion({4 * n, 4 * m, "", {}});
  CHECK(g.assertions.size() == 1);
  CHECK(g.asserts({n * n, m * n, "", {}}));
  CHECK_FALSE(g.asserts({n, 2 * m, "", {}}));
}

TEST_CASE("sources of types: constant, iota, dims, cast") {
  CHECK(infer("constant float32[2, 2] splat 1.5") == "float32[2, 2]");
  CHECK(infer("iota() {shape = [n, 3], axis = 1, dtype = int32}") == "int32[n, 3]");
  CHECK(infer("iota() {shape = [n], axis = 1, dtype = int64}") ==
        "E0312 found 1; the shape has rank 1, allowed 0 .. 0");
  CHECK(infer("iota() {shape = [n], axis = 0, dtype = float16}") ==
        "E0307 found dtype float16; allowed: int64, int32, float32");
  CHECK(infer("dims() {values = [n, 4]}") == "int64[2]");
  CHECK(infer("dims() {values = [n], scalar = 1}") == "int64[]");
  CHECK(infer("dims() {values = [n, 4], scalar = 1}") == "E0305 found 2 values; a scalar has one");
  CHECK(infer("cast(%x) {to = int32}") == "int32[n, 4]");
  CHECK(infer("cast(%x)") == "E0304 attribute \"to\" (dtype) is missing");
  CHECK(infer("cast(%x) {to = 3}") == "E0303 \"to\" is of kind int; needed dtype");
  CHECK(infer("bitcast(%x) {to = int32}") == "int32[n, 4]");
  CHECK(infer("bitcast(%x) {to = bfloat16}") == "E0307 the bits of float32 are no bfloat16");
  CHECK(infer("bitcast(%b) {to = uint8}") == "uint8[n, 4]");
  CHECK(infer("bitcast(%x) {to = bool}") == "E0307 the bits of float32 are no bool");
}

TEST_CASE("reduce") {
  CHECK(infer("reduce(%x) {kind = \"sum\", axes = [1]}") == "float32[n]");
  CHECK(infer("reduce(%x) {kind = \"mean\", axes = [0, 1]}") == "float32[]");
  CHECK(infer("reduce(%x) {kind = \"max\", axes = []}") == "float32[n, 4]");
  CHECK(infer("reduce(%x) {kind = \"argmax\", axes = [1]}") == "int64[n]");
  CHECK(infer("reduce(%x) {kind = \"argmax\", axes = [0, 1]}") ==
        "E0305 found axes [0, 1]; argmax takes one axis");
  CHECK(infer("reduce(%x) {kind = \"sum\", axes = [1, 0]}") ==
        "E0305 found axes [1, 0]; they must be ascending and unique");
  CHECK(infer("reduce(%x) {kind = \"sum\", axes = [2]}") ==
        "E0312 found 2; float32[n, 4] has rank 2, allowed 0 .. 1");
  CHECK(infer("reduce(%x) {kind = \"median\", axes = [1]}") ==
        "E0305 \"kind\" is \"median\"; allowed: sum, prod, max, min, mean, argmax, argmin");
  CHECK(infer("reduce(%b) {kind = \"sum\", axes = [1]}") == "E0307 input 0 is bool[n, 4]; allowed: numbers");
}

TEST_CASE("movement") {
  CHECK(infer("reshape(%x) {shape = [4*n]}") == "float32[4*n]");
  CHECK(infer("reshape(%x) {shape = [n, 5]}") == "float32[n, 5]");  // holds for n = 0
  CHECK(infer("reshape(%y) {shape = [5, 7]}") == "E0310 elements of [4, 8] and of [5, 7] differ: 32 and 35");
  CHECK(infer("reshape(%y) {shape = [-4, -8]}") == "E0209 axis 0 of [-4, -8] is negative");
  CHECK(infer("transpose(%img) {perm = [0, 2, 3, 1]}") == "float32[n, 9, 9, 3]");
  CHECK(infer("transpose(%x) {perm = [0, 0]}") ==
        "E0305 found perm [0, 0]; it must name each axis of float32[n, 4] once");
  CHECK(infer("broadcast(%v) {shape = [n, 4]}") == "float32[n, 4]");
  CHECK(infer("broadcast(%v) {shape = [n, 5]}") ==
        "E0311 float32[4] does not broadcast to [n, 5]: axis 0 is 4, needed 1 or 5");
  CHECK(infer("broadcast(%x) {shape = [4]}") == "E0311 float32[n, 4] has more axes than [4]");
  CHECK(infer("slice(%x) {starts = [0, 3], steps = [1, -1], shape = [n, 4]}") == "float32[n, 4]");
  CHECK(infer("slice(%x) {starts = [0, 2], steps = [1, 1], shape = [n, 3]}") ==
        "E0310 axis 1: elements 2 .. 4 are not all in 0 .. 3");
  CHECK(infer("slice(%x) {starts = [1, 0], steps = [1, 1], shape = [n, 4]}") ==
        "E0310 axis 0: elements 1 .. n are not all in 0 .. n - 1");
  CHECK(infer("slice(%x) {starts = [0, 0], steps = [1, 0], shape = [n, 4]}") ==
        "E0305 found step 0 on axis 1; steps are not zero");
  CHECK(infer("slice(%x) {starts = [0], steps = [1], shape = [n]}") ==
        "E0305 found 1 starts, 1 steps, 1 extents; float32[n, 4] has rank 2");
  CHECK(infer("slice(%x) {starts = [0, 9], steps = [1, 1], shape = [n, 0]}") == "float32[n, 0]");
  CHECK(infer("pad(%x) {low = [1, 0], high = [0, 2]}") == "float32[n + 1, 6]");
  CHECK(infer("pad(%x) {low = [-1, 0], high = [0, 2]}") ==
        "E0305 found low [-1, 0], high [0, 2]; amounts are not negative");
  CHECK(infer("pad(%x, %v) {low = [1, 0], high = [0, 2]}") ==
        "E0309 input 1 is float32[4] with rank 1; needed 0");
  CHECK(infer("concat(%x, %s) {axis = 0}") == "float32[m + n, 4]");
  CHECK(infer("concat(%x, %y) {axis = 0}") == "E0310 axis 1 of inputs 0 and 1 differ: 4 and 8");
  CHECK(infer("gather(%x, %i) {axis = 0}") == "float32[3, 4]");
  CHECK(infer("gather(%x, %x) {axis = 0}") == "E0307 found indices float32[n, 4]; allowed: int64, int32");
  CHECK(infer("gather(%v, %i) {axis = 0, elements = 1}") == "float32[3]");
  CHECK(infer("gather(%x, %i) {axis = 0, elements = 1}") ==
        "E0309 input 1 is int64[3] with rank 1; needed 2");
}

TEST_CASE("scatter, scan, sort_topk") {
  CHECK(infer("scatter(%v, %i, %v) {kind = \"none\", axis = 0}") ==
        "E0310 axis 0 of updates and what the indices name differ: 4 and 3");
  CHECK(infer("scatter(%x, %i, %y) {kind = \"add\", axis = 0, elements = 1}") ==
        "E0309 input 1 is int64[3] with rank 1; needed 2");
  CHECK(infer("scatter(%x, %x, %x) {kind = \"max\", axis = 0, elements = 1}") ==
        "E0307 found indices float32[n, 4]; allowed: int64, int32");
  CHECK(infer("scatter(%v, %i, %i) {kind = \"none\", axis = 0}") ==
        "E0308 input 0 is float32[4], input 2 is int64[3]; they must have one dtype");
  CHECK(infer("scan(%x) {kind = \"sum\", axis = 1, reverse = 1}") == "float32[n, 4]");
  CHECK(infer("scan(%x) {kind = \"sum\", axis = 2}") ==
        "E0312 found 2; float32[n, 4] has rank 2, allowed 0 .. 1");
  CHECK(infer("sort_topk(%x) {axis = 1, k = [3], largest = 1}") == "int64[n, 3]");
  CHECK(infer("sort_topk(%x) {axis = 0, k = [3], largest = 1}") == "int64[3, 4]");
  CHECK(infer("sort_topk(%x) {axis = 1, k = [5]}") ==
        "E0310 found k 5; axis 1 of float32[n, 4] has no more than 4");
  CHECK(infer("sort_topk(%x) {axis = 1, k = [1, 2]}") == "E0305 found 2 values of k; one is needed");
}

TEST_CASE("dot, softmax, normalize") {
  CHECK(infer("dot(%x, %y)") == "float32[n, 8]");
  CHECK(infer("dot(%x, %y, %z)") == "float32[n, 8]");
  CHECK(infer("dot(%x, %x)") == "float32[n, 4]");  // n == 4 is asserted
  CHECK(infer("dot(%y, %y)") == "E0310 columns of float32[4, 8] and rows of float32[4, 8] differ: 8 and 4");
  CHECK(infer("dot(%v, %y)") == "E0309 input 0 is float32[4] with rank 1; needed 2 or more");
  CHECK(infer("dot(%x, %y, %y)") == "float32[n, 8]");
  CHECK(infer("softmax(%x) {axis = 1}") == "float32[n, 4]");
  CHECK(infer("softmax(%x) {axis = -1}") == "E0312 found -1; float32[n, 4] has rank 2, allowed 0 .. 1");
  CHECK(infer("softmax(%i) {axis = 0}") == "E0307 input 0 is int64[3]; allowed: floating point");
  CHECK(infer("normalize(%x, %x) {kind = \"layer\", axis = 1, epsilon = 1e-05}") == "float32[n, 4]");
  CHECK(infer("normalize(%x, _, %x) {kind = \"rms\", axis = 1, epsilon = 1e-05}") == "float32[n, 4]");
  CHECK(infer("normalize(%x, %v) {kind = \"layer\", axis = 1, epsilon = 1e-05}") ==
        "E0310 input and scale differ in rank: [n, 4] and [4]");
}

TEST_CASE("conv and pool") {
  const auto conv = [](const std::string& more) {
    return infer("conv(%img, %w) {" + more + ", groups = 1}");
  };
  CHECK(conv("strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], dilations = [1, 1]") ==
        "float32[n, 6, 9, 9]");
  CHECK(conv("strides = [2, 3], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 2]") ==
        "float32[n, 6, 4, 2]");
  CHECK(conv("strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [5, 1]") ==
        "E0310 spatial axis 0: a window of 11 does not fit in 9 with pads 0 and 0");
  CHECK(conv("strides = [1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]") ==
        "E0305 strides is [1]; 2 values are needed, one per spatial axis of float32[n, 3, 9, 9]");
  CHECK(conv("strides = [0, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]") ==
        "E0305 strides is [0, 1]; values are at least 1");
  const std::string window = "strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]";
  CHECK(infer("conv(%img, %w) {" + window + ", groups = 3}") ==
        "E0310 channels of float32[n, 3, 9, 9] and of 3 groups of float32[6, 3, 3, 3] differ: 3 and 9");
  CHECK(infer("conv(%img, %w) {" + window + ", groups = 4}") ==
        "E0305 groups is 4; it must divide the 6 output channels");
  CHECK(infer("pool(%img) {kind = \"max\", kernel = [2, 2], " + window + "}") == "float32[n, 3, 4, 4]");
  CHECK(infer("pool(%img) {kind = \"max\", kernel = [2, 2], ceil_mode = 1, " + window + "}") ==
        "float32[n, 3, 5, 5]");
  CHECK(infer("pool(%img) {kind = \"max\", kernel = [2, 2], strides = [1, 1], pads_begin = [2, 0], pads_end "
              "= [0, 0], dilations = [1, 1]}") ==
        "E0305 pads [2, 0] and [0, 0] must be smaller than the window [2, 2]");
}

TEST_CASE("sizes that overflow are refused") {
  CHECK(infer("broadcast(%v) {shape = [4611686018427387904, 4611686018427387904, 4]}") ==
        "E0315 the element count of [4611686018427387904, 4611686018427387904, 4] does not fit in 64 bits");
}

TEST_CASE("every core op has a row and a type rule") {
  for (const Op op : core_ops()) {
    REQUIRE(core_op_info(op) != nullptr);
    CHECK(op_from_name(name_of(op)) == op);
    CHECK(is_map(op) == scalar_code(op).has_value());
  }
  CHECK(core_op_info(Op::onnx) == nullptr);
  CHECK(attr_spec(Op::reduce, "kind")->choices.size() == 7);
  CHECK(attr_spec(Op::pool, "kind")->choices == std::vector<std::string>{"max", "average"});
  CHECK(attr_spec(Op::reduce, "axes")->kind == AttrKind::kInts);
  CHECK_FALSE(attr_spec(Op::reduce, "select_last")->required);
}

TEST_CASE("the builder remembers its first failure") {
  Graph g;
  Builder b(g, {{"/nodes/3", "", ""}});
  const ValueId x = g.add_input("x", {DType::float32, {Dim::symbol("n"), 4}});
  const ValueId bias = g.add_input("b", {DType::float32, {4}});
  const ValueId y = b.map(Op::add, {x, bias});
  CHECK(to_string(g.type(y)) == "float32[n, 4]");
  CHECK(g.node(g.value(y).producer).sources[0].path == "/nodes/3");
  CHECK(b.reshape(x, g.type(x).dims) == x);
  CHECK(b.transpose(x, {0, 1}) == x);
  CHECK(to_string(g.type(b.reduce(x, "sum", {1}, true))) == "float32[n, 1]");
  CHECK_FALSE(b.failed());
  const size_t nodes = g.live_nodes();
  CHECK(b.op(Op::softmax, {x}, {{"axis", int64_t{7}}}) == kNone);
  CHECK(b.map(Op::add, {x, x}) == kNone);
  CHECK(b.reshape(kNone, {}) == kNone);
  CHECK(g.live_nodes() == nodes);
  REQUIRE_CODE(b.take(), Code::axis_out_of_range);
}

TEST_CASE("numpy broadcasting of shapes") {
  Graph g;
  Builder b(g, {});
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  const auto both = [&](const Dims& x, const Dims& y) {
    const auto r = b.broadcast_shape(x, y);
    return r.ok() ? to_string(*r) : r.error().first().found;
  };
  CHECK(both({n, 1, 4}, {3, 1}) == "[n, 3, 4]");
  CHECK(both({}, {n}) == "[n]");
  CHECK(both({n}, {1}) == "[n]");
  CHECK(both({0}, {1}) == "[0]");
  CHECK(both({3}, {4}) == "[3] and [4]: dims 3 and 4 differ and neither is 1");
  CHECK(g.assertions.empty());
  CHECK(both({n, 4}, {m, 4}) == "[n, 4]");
  CHECK(both({n}, {7}) == "[7]");
  CHECK(g.assertions.size() == 2);
}
