// The pass manager's harness, with passes of its own that break things: choosing, printing, verifying,
// checking, timing.
#include "catch.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"
#include "compiler/passes/check_pass.h"
#include "compiler/passes/manager.h"
#include "numeric/convert.h"

using namespace ge;

namespace {
std::vector<std::string> ran;

Status quiet(Graph&, PassContext&) {
  ran.push_back("quiet");
  return {};
}
Status late(Graph&, PassContext&) {
  ran.push_back("late");
  return {};
}
Status breaks_types(Graph& g, PassContext&) {
  g.value(g.outputs[0]).type.dims = {3};
  return {};
}
Status negates(Graph& g, PassContext&) {
  Builder b(g, {});
  g.set_output(0, b.op(Op::neg, {g.outputs[0]}));
  return b.take();
}
Status is_wrong(Graph&, PassContext&) {
  return fail(Code::internal).because("lost its way");
}
Status finds_fault(Graph&, PassContext&) {
  return fail(Code::shape_mismatch).because("found 3");
}

constexpr PassInfo kTable[] = {{"quiet", 0, RewriteClass::kExact, "", quiet},
                               {"late", 2, RewriteClass::kExact, "", late},
                               {"breaks_types", 3, RewriteClass::kExact, "", breaks_types},
                               {"negates", 3, RewriteClass::kRounding, "", negates},
                               {"is_wrong", 3, RewriteClass::kExact, "", is_wrong},
                               {"finds_fault", 3, RewriteClass::kExact, "", finds_fault}};

Graph sample() {
  auto g = parse_ir("graph (%x: float32[n]) symbols(n 1..8 opt 2) { %y = relu(%x) return %y as \"y\" }");
  REQUIRE_OK(g);
  return std::move(g).value();
}

// relu or neg of relu, on the reference: enough to see a sign.
Result<std::vector<HostTensor>> evaluate(const Graph& g, const std::vector<HostTensor>& inputs,
                                         const std::map<std::string, int64_t>&) {
  HostTensor out{inputs[0].dtype, inputs[0].dims, ByteBuffer::copy_of(inputs[0].bytes.span())};
  const bool negative = g.producer(g.outputs[0])->op == Op::neg;
  for (int64_t i = 0; i < out.count(); ++i) {
    const double v = std::max(0.0, load_as_double(out.dtype, out.bytes.data(), i));
    store_from_double(out.dtype, out.bytes.data(), i, negative ? -v : v);
  }
  std::vector<HostTensor> results;
  results.push_back(std::move(out));
  return results;
}
const Evaluator kEvaluate = evaluate;

Status run(Graph& g, PassOptions options) {
  PassContext context;
  context.evaluate = &kEvaluate;
  ran.clear();
  return run_passes(g, kTable, options, context);
}
}  // namespace

TEST_CASE("levels, choice, order and disabling") {
  Graph g = sample();
  REQUIRE_OK(run(g, {.level = 1}));
  CHECK(ran == std::vector<std::string>{"quiet"});
  REQUIRE_OK(run(g, {.level = 2}));
  CHECK(ran == std::vector<std::string>{"quiet", "late"});
  REQUIRE_OK(run(g, {.only = {"late", "quiet", "late"}}));
  CHECK(ran == std::vector<std::string>{"late", "quiet", "late"});
  REQUIRE_OK(run(g, {.disabled = {"quiet"}}));
  CHECK(ran == std::vector<std::string>{"late"});
}

TEST_CASE("names of passes that do not exist are all told, with the nearest") {
  Graph g = sample();
  const Status s = run(g, {.only = {"quie"}, .disabled = {"xyzzy"}});
  REQUIRE_CODE(s, Code::unknown_pass);
  REQUIRE(s.error().list().size() == 2);
  CHECK(s.error().list()[0].found == "found \"quie\"");
  CHECK(s.error().list()[0].fix == "did you mean quiet?");
  CHECK(s.error().list()[1].fix == "--list-passes names them");
  CHECK(ran.empty());
}

TEST_CASE("a pass that leaves a malformed graph is named") {
  Graph g = sample();
  const Status s = run(g, {.only = {"quiet", "breaks_types"}});
  REQUIRE_CODE(s, Code::verify_failed);
  CHECK(s.error().first().frames == std::vector<std::string>{"in pass breaks_types"});
  Graph unchecked = sample();
  REQUIRE_OK(run(unchecked, {.only = {"breaks_types"}, .verify = false}));
  Graph broken = sample();
  broken.value(broken.outputs[0]).type.dims = {3};
  const Status first = run(broken, {.only = {"quiet"}});
  REQUIRE_CODE(first, Code::verify_failed);
  CHECK(first.error().first().frames == std::vector<std::string>{"before the first pass"});
}

TEST_CASE("our faults name the pass, the user's do not") {
  Graph g = sample();
  const Status ours = run(g, {.only = {"is_wrong"}});
  REQUIRE_CODE(ours, Code::internal);
  CHECK(ours.error().first().frames == std::vector<std::string>{"in pass is_wrong"});
  const Status theirs = run(g, {.only = {"finds_fault"}});
  REQUIRE_CODE(theirs, Code::shape_mismatch);
  CHECK(theirs.error().first().frames.empty());
}

TEST_CASE("checking names the pass, the output, the element and the sizes") {
  Graph g = sample();
  const Status s = run(g, {.only = {"quiet", "negates"}, .check = true});
  REQUIRE_CODE(s, Code::pass_changed_result);
  CHECK(s.error().first().message == "pass negates changed the result");
  CHECK_THAT(s.error().first().found, test::starts_with("output \"y\" at n = "));
  CHECK_THAT(s.error().first().found, test::contains(": element ["));
  REQUIRE_OK(run(g, {.only = {"quiet", "late"}, .check = true}));
}

TEST_CASE("printing before and after, and the time table") {
  std::string text;
  const auto print = [&](std::string_view t) { text += t; };
  Graph g = sample();
  REQUIRE_OK(run(g, {.only = {"quiet", "late"}, .print_after = "late", .print = print}));
  const std::string graph = ge::print(g);
  CHECK(text == "// before late\n" + graph + "// after late\n" + graph);
  text.clear();
  REQUIRE_OK(run(g, {.only = {"quiet", "late"}, .print_after = "all", .print = print}));
  CHECK(text == "// after quiet\n" + graph + "// after late\n" + graph);
  text.clear();
  REQUIRE_OK(run(g, {.only = {"quiet"}, .print = print, .time = true}));
  CHECK_THAT(text, test::starts_with(" pass                               ms    nodes\n quiet "));
  CHECK_THAT(text, test::ends_with("1 -> 1\n"));
}

TEST_CASE("sizes to check at: least, opt, odd ones, none that break an assertion or a shape") {
  const auto parse = [](const std::string& text) {
    auto g = parse_ir(text);
    REQUIRE_OK(g);
    return sizes_to_try(*g);
  };
  const auto free =
      parse("graph (%x: float32[a, b]) symbols(a 0..64 opt 8, b 2..4 opt 3) { return %x as \"y\" }");
  CHECK(free == std::vector<SymbolValues>{
                    {{"a", 0}, {"b", 2}}, {{"a", 8}, {"b", 3}}, {{"a", 3}, {"b", 4}}, {{"a", 5}, {"b", 4}}});
  const auto equal = parse(
      "graph (%x: float32[a], %y: float32[b]) symbols(a 0..64 opt 8, b 1..64 opt 3) { assert a == b \"\" "
      "return %x as \"x\", %y as \"y\" }");
  CHECK(equal == std::vector<SymbolValues>{{{"a", 5}, {"b", 5}}});
  const auto shaped = parse("graph (%x: float32[a - 4]) symbols(a 0..64 opt 8) { return %x as \"y\" }");
  CHECK(shaped == std::vector<SymbolValues>{{{"a", 8}}, {{"a", 5}}});
  CHECK(parse("graph (%x: float32[4]) { return %x as \"y\" }") == std::vector<SymbolValues>{{}});
}

TEST_CASE("differences of tensors") {
  const auto tensor = [](DType dtype, std::vector<double> values) {
    HostTensor t{dtype,
                 {static_cast<int64_t>(values.size())},
                 ByteBuffer::allocate(
                     static_cast<size_t>(bytes_of(dtype, static_cast<int64_t>(values.size()))), true)};
    for (size_t i = 0; i < values.size(); ++i)
      store_from_double(dtype, t.bytes.data(), static_cast<int64_t>(i), values[i]);
    return t;
  };
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto f = [&](std::vector<double> v) { return tensor(DType::float32, std::move(v)); };
  CHECK(difference_of(f({1, nan}), f({1, -nan}), true) == "");
  CHECK(difference_of(f({0.0}), f({-0.0}), true) == "element [0] was 0, is -0");
  CHECK(difference_of(f({0.0}), f({-0.0}), false) == "");
  CHECK(difference_of(f({1, 2}), f({1, 2.0001}), false) == "");
  CHECK(difference_of(f({1, 2}), f({1, 2.0001}), true) == "element [1] was 2, is 2.0000999");
  CHECK(difference_of(f({1, 2}), f({1, 2.1}), false) == "element [1] was 2, is 2.0999999");
  CHECK(difference_of(f({1}), f({nan}), false) == "element [0] was 1, is nan");
  CHECK(difference_of(tensor(DType::int32, {1}), tensor(DType::int32, {2}), false) ==
        "element [0] was 1, is 2");
  CHECK(difference_of(f({1}), f({1, 2}), false) == "was float32[1], is float32[2]");
}

TEST_CASE("the real table: names are unique, sentences exist, canonicalize is first") {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : all_passes()) {
    CHECK(std::find(names.begin(), names.end(), pass.name) == names.end());
    names.push_back(pass.name);
    CHECK_FALSE(pass.summary.empty());
    CHECK(pass.run != nullptr);
    CHECK((pass.level >= 0 && pass.level <= 3));
  }
  CHECK(names.front() == "canonicalize");
}

TEST_CASE("the real table: what all targets share comes first, then what each target's copy gets") {
  const auto passes = all_passes();
  const auto stage = [](const PassInfo& a, const PassInfo& b) { return a.per_target < b.per_target; };
  CHECK(std::is_sorted(passes.begin(), passes.end(), stage));
  CHECK_FALSE(passes.front().per_target);
  CHECK(passes.back().per_target);
}
