// Plans for a GPU bind without one: generated code states what it takes for granted, and the plan's views are
// that.
#include "bind_without_device.h"
#include "catch.h"
#include "compiler/codegen/nvrtc.h"
#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "contract/plan_write.h"

namespace ge {
namespace {

std::vector<std::byte> plan_of(const std::string& text, const std::function<void(Plan&)>& change = nullptr) {
  auto graph = parse_ir(text);
  REQUIRE(graph.ok());
  CompileOptions options;
  options.targets = {"sm_90"};
  auto compiled = compile(std::move(*graph), options);
  REQUIRE_OK(compiled);
  if (change) change(compiled->assembler->plan);
  auto file = write_plan_bytes(compiled->assembler->plan, compiled->assembler->bytes());
  REQUIRE_OK(file);
  return std::move(*file);
}

const char* const kGraphs[] = {
    // Rows, of a constant and of a symbolic length; vectors, guards and rereading.
    R"(graph (%x: float16[batch, 12, 64, 100]) {
  %y = softmax(%x) {axis = 3} : float16[batch, 12, 64, 100]
  return %y as "y"
})",
    R"(graph (%x: float16[3, batch]) {
  %y = softmax(%x) {axis = 1} : float16[3, batch]
  return %y as "y"
})",
    // Columns.
    R"(graph (%x: float32[batch, 5, 96]) {
  %y = softmax(%x) {axis = 1} : float32[batch, 5, 96]
  return %y as "y"
})",
    // A transpose, two outputs, a broadcast row.
    R"(graph (%x: float32[64, batch], %r: float32[batch, 64], %b: float32[64]) {
  %t = transpose(%x) {perm = [1, 0]} : float32[batch, 64]
  %bb = broadcast(%b) {shape = [batch, 64]} : float32[batch, 64]
  %s = add(%t, %r) : float32[batch, 64]
  %y = mul(%s, %bb) : float32[batch, 64]
  return %y as "y", %s as "s"
})",
    // Products whose kernel goes by the rows.
    R"(graph (%x: float16[batch, 512], %r: float16[batch, 256]) {
  %w = constant float16[512, 256] splat 0.125
  %v = constant float16[256, 512] splat 0.5
  %c = dot(%x, %w) : float16[batch, 256]
  %s = add(%c, %r) : float16[batch, 256]
  %d = dot(%s, %v) : float16[batch, 512]
  %y = relu(%d) : float16[batch, 512]
  return %y as "y"
})",
    // Rows few enough for tensor cores at all sizes: the kernels for fewer still have a geometry of their
    // own.
    R"(graph (%x: float16[batch, 2048]) symbols(batch 0..6 opt 2) {
  %w = constant float16[2048, 1000] splat 0.125
  %v = constant float16[1000, 64] splat 0.125
  %c = dot(%x, %w) : float16[batch, 1000]
  %y = dot(%c, %v) : float16[batch, 64]
  return %y as "y"
})",
    // The same code over other ranks.
    R"(graph (%x: float32[16], %y: float32[2, 8], %z: float32[batch, 4]) {
  %a = relu(%x) : float32[16]
  %b = relu(%y) : float32[2, 8]
  %c = relu(%z) : float32[batch, 4]
  return %a as "a", %b as "b", %c as "c"
})",
};

TEST_CASE("plans for a GPU bind under every dim", "[backend]") {
  if (!Nvrtc::open().ok()) return;
  for (const char* text : kGraphs) {
    INFO(text);
    const auto file = plan_of(text);
    for (const int64_t batch : {0, 1, 2, 3, 4, 5, 8, 17, 64, 65, 100, 200, 256, 257, 1024, 5000}) {
      if (batch > 6 && std::string(text).find("0..6") != std::string::npos) break;
      CHECK(test::bind_without_device(file, "sm_90", {{"batch", batch}}) == "");
    }
  }
}

TEST_CASE("a plan that would be refused when it is loaded is not written", "[backend]") {
  auto graph = parse_ir(
      "graph (%x: float32[batch, 4]) {\n  %y = softmax(%x) {axis = 1} : float32[batch, 4]\n  return %y as "
      "\"y\"\n}");
  REQUIRE_OK(graph);
  auto compiled = compile(std::move(*graph), {});
  REQUIRE_OK(compiled);
  size_t written = 0;
  const PlanSink sink = [&](ByteSpan part) {
    written += part.size();
    return Status();
  };
  REQUIRE_OK(compiled->write(sink));
  CHECK(written > 0);
  Plan& plan = compiled->assembler->plan;
  plan.programs[0].run.steps[0].launch[0].choices[0].operands.clear();
  written = 0;
  const Status status = compiled->write(sink);
  REQUIRE_CODE(status, Code::internal);
  CHECK(status.error().first().path == "/programs/0/run/steps/0/launch/choices/0");
  CHECK(written == 0);
}

TEST_CASE("a product of any number of rows has a choice for few of them", "[backend]") {
  std::vector<std::string> names;
  std::vector<bool> dependent;
  plan_of(R"(graph (%x: float16[batch, 2048]) {
  %w = constant float16[2048, 8192] splat 0.125
  %v = constant float16[8192, 2048] splat 0.5
  %c = dot(%x, %w) : float16[batch, 8192]
  %y = dot(%c, %v) : float16[batch, 2048]
  return %y as "y"
})",
          [&](Plan& plan) {
            for (const Step& step : plan.programs[0].run.steps) {
              dependent.push_back(step.launch[0].dependent_launch);
              for (const Choice& c : step.launch[0].choices)
                names.push_back(plan.kernels[c.kernel].name + (c.guard.empty() ? "" : " where few"));
            }
          });
  // Every kernel but the library's waits by itself, so that the second launch may start early.
  CHECK(dependent == std::vector<bool>{false, true});
  REQUIRE(names.size() >= 6);
  CHECK(names[0] == "dot_stream_n1_f16_sm80 where few");
  CHECK(names[1] == "dot_stream_n4_f16_sm80 where few");
  CHECK(names[2].starts_with("dot_wgmma_"));
  CHECK(names.back() == "dot_cublaslt");
}

TEST_CASE("a norm's launch names what it reads before its predecessor is done", "[backend]") {
  if (!Nvrtc::open().ok()) return;
  const auto norm = [](const char* scale, const std::function<void(Plan&)>& change) {
    return plan_of(
        "graph (%x: float16[512, 768], %s: float16[768]) {\n"
        "  %a = constant float16[384] splat 0.5\n"
        "  %b = constant float16[384] splat 0.25\n"
        "  %w = concat(%a, %b) {axis = 0} : float16[768]\n"
        "  %f = broadcast(" +
            std::string(scale) +
            ") {shape = [512, 768]} : float16[512, 768]\n"
            "  %r = relu(%x) : float16[512, 768]\n"
            "  %y = normalize(%r, %f) {axis = 1, epsilon = 0.001, kind = \"layer\"} : float16[512, 768]\n"
            "  return %r as \"r\", %y as \"y\"\n}",
        change);
  };
  std::vector<Attrs> attrs;
  const auto look = [&](Plan& plan) {
    attrs.clear();
    for (const Step& step : plan.programs[0].run.steps)
      for (const Launch& launch : step.launch)
        for (const Choice& c : launch.choices) attrs.push_back(c.attrs);
  };
  CHECK(test::bind_without_device(norm("%w", look), "sm_90", {}) == "");
  REQUIRE(!attrs.empty());
  const int64_t early = attr_int(attrs.back(), "early", 0);
  CHECK(early != 0);
  norm("%s", look);  // an input's bytes may be written by whoever runs the plan
  for (const Attrs& a : attrs) CHECK(a.empty());
  // Whoever leaves it out, or says it of another operand, is refused.
  for (const int64_t other : {int64_t{0}, early * 2, early | 1}) {
    const auto file = norm("%w", [&](Plan& plan) {
      Choice& c = plan.programs[0].run.steps.back().launch.at(0).choices.back();
      c.attrs = other == 0 ? Attrs{} : Attrs{{"early", other}};
    });
    CHECK(test::bind_without_device(file, "sm_90", {}) != "");
  }
}

TEST_CASE("views that generated code was not made for are refused", "[backend]") {
  if (!Nvrtc::open().ok()) return;
  const auto refusal = [&](const std::function<void(Plan&)>& change) {
    return test::bind_without_device(plan_of(kGraphs[1], change), "sm_90", {{"batch", 16}});
  };
  CHECK(refusal(nullptr) == "");
  // Every choice's code claims rows of another kind than the views have.
  const auto change_requirement = [](RequirementKind kind, int64_t value) {
    return [=](Plan& plan) {
      for (KernelRef& k : plan.kernels)
        for (Requirement& r : k.generated.at(0).requirements)
          if (r.kind == kind) r.value = value;
    };
  };
  CHECK(refusal(change_requirement(RequirementKind::kExtent, 4)).find("its code was made for 4") !=
        std::string::npos);
  CHECK(refusal(change_requirement(RequirementKind::kStride, 2)).find("its code was made for 2") !=
        std::string::npos);
  CHECK(refusal(change_requirement(RequirementKind::kExtentAtMost, 15)).find("at most 15") !=
        std::string::npos);
}

}  // namespace
}  // namespace ge
