#include <algorithm>

#include "catch.h"
#include "compiler/codegen/nvrtc.h"
#include "compiler/compile.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"

namespace ge {
namespace {

// Launches that the graph becomes on a target, at -O2.
size_t launches(const std::string& text, const std::string& target) {
  auto graph = parse_ir(text);
  REQUIRE(graph.ok());
  CompileOptions options;
  options.targets = {target};
  auto compiled = compile(std::move(*graph), options);
  INFO((compiled.ok() ? std::string() : compiled.error().to_string()));
  REQUIRE(compiled.ok());
  return compiled->summary.targets[0].launches;
}

struct Pattern {
  const char* name;
  const char* text;
};

const Pattern kOneLaunch[] = {
    {"softmax with its scale", R"(graph (%x: float16[batch, 12, 64, 64]) {
  %c = constant float16[] [0.125]
  %b = broadcast(%c) {shape = [batch, 12, 64, 64]} : float16[batch, 12, 64, 64]
  %m = mul(%x, %b) : float16[batch, 12, 64, 64]
  %y = softmax(%m) {axis = 3} : float16[batch, 12, 64, 64]
  return %y as "y"
})"},
    {"residual and layer norm, both kept",
     R"(graph (%x: float32[batch, 768], %r: float32[batch, 768], %g: float32[768], %b: float32[768]) {
  %s = add(%x, %r) : float32[batch, 768]
  %gb = broadcast(%g) {shape = [batch, 768]} : float32[batch, 768]
  %bb = broadcast(%b) {shape = [batch, 768]} : float32[batch, 768]
  %y = normalize(%s, %gb, %bb) {kind = "layer", axis = 1, epsilon = 1e-05} : float32[batch, 768]
  return %y as "y", %s as "s"
})"},
    {"layer norm written out", R"(graph (%x: float32[batch, 768]) {
  %m = reduce(%x) {kind = "mean", axes = [1]} : float32[batch]
  %m1 = reshape(%m) {shape = [batch, 1]} : float32[batch, 1]
  %mb = broadcast(%m1) {shape = [batch, 768]} : float32[batch, 768]
  %d = sub(%x, %mb) : float32[batch, 768]
  %q = mul(%d, %d) : float32[batch, 768]
  %v = reduce(%q) {kind = "mean", axes = [1]} : float32[batch]
  %v1 = reshape(%v) {shape = [batch, 1]} : float32[batch, 1]
  %e = constant float32[] [1e-05]
  %eb = broadcast(%e) {shape = [batch, 1]} : float32[batch, 1]
  %ve = add(%v1, %eb) : float32[batch, 1]
  %s = sqrt(%ve) : float32[batch, 1]
  %sb = broadcast(%s) {shape = [batch, 768]} : float32[batch, 768]
  %y = div(%d, %sb) : float32[batch, 768]
  return %y as "y"
})"},
    {"gelu chain", R"(graph (%x: float16[batch, 3072], %b: float16[3072]) {
  %bb = broadcast(%b) {shape = [batch, 3072]} : float16[batch, 3072]
  %s = add(%x, %bb) : float16[batch, 3072]
  %g = gelu(%s) : float16[batch, 3072]
  %y = mul(%g, %s) : float16[batch, 3072]
  return %y as "y"
})"},
    {"transpose and add", R"(graph (%x: float32[64, batch], %r: float32[batch, 64]) {
  %t = transpose(%x) {perm = [1, 0]} : float32[batch, 64]
  %y = add(%t, %r) : float32[batch, 64]
  return %y as "y"
})"},
    {"dot, bias and relu", R"(graph (%x: float32[batch, 64], %w: float32[64, 96], %b: float32[96]) {
  %d = dot(%x, %w) : float32[batch, 96]
  %bb = broadcast(%b) {shape = [batch, 96]} : float32[batch, 96]
  %s = add(%d, %bb) : float32[batch, 96]
  %y = relu(%s) : float32[batch, 96]
  return %y as "y"
})"},
    {"conv, bias and relu",
     R"(graph (%x: float16[batch, 16, 14, 14], %w: float16[32, 16, 3, 3], %b: float16[32]) {
  %d = conv(%x, %w, %b) {strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], dilations = [1, 1], groups = 1} : float16[batch, 32, 14, 14]
  %y = relu(%d) : float16[batch, 32, 14, 14]
  return %y as "y"
})"}};

TEST_CASE("what belongs together is one launch on the CPU") {
  for (const Pattern& p : kOneLaunch) {
    INFO(p.name);
    CHECK(launches(p.text, "cpu") == 1);
  }
}

TEST_CASE("what belongs together is one launch on sm_90") {
  if (!Nvrtc::open().ok()) {
    WARN("skipped: no NVRTC here");
    return;
  }
  for (const Pattern& p : kOneLaunch) {
    INFO(p.name);
    CHECK(launches(p.text, "sm_90") == 1);
  }
}

TEST_CASE(
    "an erf gelu behind a product is one launch of ours or two of which one is the library's, never three") {
  if (!Nvrtc::open().ok()) return;
  const size_t n = launches(R"(graph (%x: float16[64, 1024], %w: float16[1024, 4096], %b: float16[4096]) {
  %d = dot(%x, %w) : float16[64, 4096]
  %bb = broadcast(%b) {shape = [64, 4096]} : float16[64, 4096]
  %s = add(%d, %bb) : float16[64, 4096]
  %y = gelu(%s) : float16[64, 4096]
  return %y as "y"
})",
                            "sm_90");
  CHECK(n >= 1);
  CHECK(n <= 2);
}

// Two convolutions, 3 x 3 and, with a step, 1 x 1, whose weights are counted up.
Graph two_convolutions() {
  Graph graph;
  Builder b(graph, {});
  const auto weights = [&](std::vector<int64_t> dims) {
    int64_t count = 1;
    for (const int64_t d : dims) count *= d;
    std::vector<float> numbers(static_cast<size_t>(count));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    return b.constant(tensor_of_floats(std::move(dims), numbers));
  };
  const auto convolve = [&](ValueId x, ValueId w, int64_t step, int64_t pad) {
    const std::vector<int64_t> ones{1, 1}, pads{pad, pad}, steps{step, step};
    return b.op(Op::conv, {x, w},
                {{"strides", steps},
                 {"pads_begin", pads},
                 {"pads_end", pads},
                 {"dilations", ones},
                 {"groups", int64_t{1}}});
  };
  const ValueId x = graph.add_input("x", {DType::float32, {1, 64, 8, 8}});
  const ValueId y = convolve(x, weights({64, 64, 3, 3}), 1, 1);
  graph.add_output(convolve(y, weights({512, 64, 1, 1}), 2, 0), "y");
  return graph;
}

TEST_CASE("weights of a GPU's order are made while the plan is written; those of one position stand once") {
  if (!Nvrtc::open().ok()) GE_SKIP("no NVRTC");
  CompileOptions options;
  options.targets = {"cpu", "sm_90"};
  auto compiled = compile(two_convolutions(), options);
  REQUIRE(compiled.ok());
  const auto file_of = [&] {
    std::vector<std::byte> file;
    REQUIRE(compiled
                ->write([&](ByteSpan part) {
                  file.insert(file.end(), part.begin(), part.end());
                  return Status();
                })
                .ok());
    return file;
  };
  const std::vector<std::byte> file = file_of();
  CHECK(file == file_of());
  const Plan& plan = compiled->assembler->plan;
  REQUIRE(plan.blobs.size() == 3);
  const std::vector<int64_t> last{64, 3, 3, 64};
  const auto moved =
      std::find_if(plan.blobs.begin(), plan.blobs.end(), [&](const Blob& blob) { return blob.dims == last; });
  REQUIRE(moved != plan.blobs.end());
  const std::byte* weights = file.data() + file.size() - (plan.blobs[2].offset + plan.blobs[2].size_bytes);
  for (int64_t m = 0; m < 64; ++m)
    for (int64_t tap = 0; tap < 9; ++tap)
      for (int64_t c = 0; c < 64; ++c)
        if (load_as<float>(weights + moved->offset + 4 * ((m * 9 + tap) * 64 + c)) !=
            static_cast<float>((m * 64 + c) * 9 + tap))
          FAIL("at " << m << ", " << tap << ", " << c);
}

}  // namespace
}  // namespace ge
