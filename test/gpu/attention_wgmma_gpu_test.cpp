// attention_wgmma's rows beside attention_reference: one tile and many, keys shared by two warpgroups or not,
// grouped heads, causal offsets, strides of a packed projection; and what their check refuses.
#include <limits>

#include "gpu_harness.h"
#include "kernels/attention/attention_wgmma.h"

namespace ge::test {
namespace {

const char* const kRows[2][2] = {{"attention_wgmma64_f16_sm90", "attention_wgmma64_bf16_sm90"},
                                 {"attention_wgmma128_f16_sm90", "attention_wgmma128_bf16_sm90"}};

const char* row_of(int64_t size, DType dtype) {
  return kRows[size > 64 ? 1 : 0][dtype == DType::float16 ? 0 : 1];
}
Geometry geometry_of(int64_t size) {
  return {kernels::kAttentionThreads, 1, kernels::AttentionWgmmaShape{size > 64 ? 128 : 64}.shared_bytes()};
}
Attrs attrs_of(int64_t causal, bool zero_empty, double scale) {
  const std::vector<int64_t> box{1, 1, kernels::kAttentionBox, kernels::kAttentionBox};
  return {{"box0", box},
          {"box1", box},
          {"box2", box},
          {"causal", causal},
          {"fill", -std::numeric_limits<double>::infinity()},
          {"scale", scale},
          {"swizzle0", int64_t{128}},
          {"swizzle1", int64_t{128}},
          {"swizzle2", int64_t{128}},
          {"zero_empty", int64_t{zero_empty}}};
}

// [batch, heads, length, size] as a packed projection holds it: the heads of a row side by side, with others.
TestTensor packed(DType dtype, int64_t batch, int64_t heads, int64_t length, int64_t size) {
  TestTensor tensor(dtype, {batch, length, heads + 1, size});
  std::swap(tensor.view().dims[1], tensor.view().dims[2]);
  std::swap(tensor.view().strides[1], tensor.view().strides[2]);
  tensor.view().dims[1] = heads;
  return tensor;
}

}  // namespace

TEST_CASE("CUDA attention_wgmma rows equal attention_reference") {
  NEED_GPU(gpu);
  if (gpu->arch() != 90) GE_SKIP("no GPU of sm_90 here");
  std::mt19937 rng(47);
  struct Case {
    int64_t batch, heads, shared, queries, keys, size, width, causal;
    bool zero_empty = false;
    double scale = 0.125;
  };
  // With 134 heads and more each warpgroup has queries of its own.
  const Case cases[] = {{1, 1, 1, 1, 1, 8, 8, 0},
                        {1, 4, 2, 1, 513, 64, 64, 0},
                        {1, 4, 2, 5, 0, 64, 64, 1},
                        {1, 4, 2, 0, 5, 64, 64, 1},
                        {0, 4, 2, 5, 5, 64, 128, 0},
                        {2, 3, 3, 17, 17, 64, 64, 1},
                        {1, 2, 1, 64, 64, 32, 32, 1},
                        {2, 4, 2, 65, 63, 40, 24, 2},
                        {1, 1, 1, 197, 197, 64, 64, 0},
                        {1, 1, 1, 513, 513, 64, 64, 1},
                        {1, 2, 1, 200, 300, 48, 64, 2},
                        {1, 2, 2, 100, 30, 64, 64, 2, true},
                        {1, 1, 1, 100, 30, 64, 64, 2},
                        {2, 134, 67, 65, 130, 8, 16, 0},
                        {1, 134, 67, 130, 400, 16, 8, 1},
                        {1, 134, 134, 200, 70, 24, 32, 2, true},
                        {1, 2, 1, 17, 400, 128, 128, 0, false, -0.25},
                        {1, 4, 1, 150, 257, 96, 128, 2},
                        {1, 2, 2, 257, 129, 128, 104, 1, false, 0.0},
                        {1, 134, 67, 129, 70, 72, 8, 1},
                        {1, 266, 1, 70, 9, 8, 128, 0}};
  size_t l = 0;
  for (const Case& c : cases) {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      const int64_t size = std::max(c.size, c.width);
      TestTensor q = packed(dtype, c.batch, c.heads, c.queries, c.size),
                 k = packed(dtype, c.batch, c.shared, c.keys, c.size),
                 v(dtype, {c.batch, c.shared, c.keys, c.width});
      q.random(rng, 4), k.random(rng, 4), v.random(rng, 8);
      for (const int64_t grid : kGrids) {
        TestTensor out(dtype, {c.batch, c.queries, c.heads, c.width});
        INFO(row_of(size, dtype) << " case " << l / 2 << " grid " << grid);
        compare(*gpu, row_of(size, dtype), "attention_reference", {&q, &k, &v, nullptr, &out},
                attrs_of(c.causal, c.zero_empty, c.scale), grid, 4, 1, nullptr, geometry_of(size));
      }
      ++l;
    }
  }
}

// An infinite or NaN score makes its row NaN and no other, as the reference does.
TEST_CASE("CUDA attention_wgmma rows keep what is not finite in its row") {
  NEED_GPU(gpu);
  if (gpu->arch() != 90) GE_SKIP("no GPU of sm_90 here");
  std::mt19937 rng(48);
  for (const int64_t size : {64, 128})
    for (const int64_t causal : {0, 1}) {
      TestTensor q(DType::float16, {1, 2, 150, size}), k(DType::float16, {1, 2, 150, size}),
          v(DType::float16, {1, 2, 150, size}), out(DType::float16, {1, 150, 2, size});
      q.random(rng, 4), k.random(rng, 4), v.random(rng, 8);
      q.set(5 * size + 3, std::nan(""));
      q.set(140 * size, std::numeric_limits<double>::infinity());
      k.set(70 * size + 1, 60000), k.set(71 * size + 1, -60000);
      compare(*gpu, row_of(size, DType::float16), "attention_reference", {&q, &k, &v, nullptr, &out},
              attrs_of(causal, false, 0.125), 4, 4, 1, nullptr, geometry_of(size));
    }
}

TEST_CASE("CUDA attention_wgmma rows say what they refuse") {
  const KernelRow* row = find_kernel_row("attention_wgmma64_f16_sm90");
  REQUIRE(row != nullptr);
  const auto said = [&](std::vector<int64_t> q, std::vector<int64_t> v, const Attrs& attrs,
                        bool masked = false, Layout layout = Layout::kDense) {
    const TestTensor queries(DType::float16, q, layout), keys(DType::float16, {v[0], v[1], v[2], q[3]}),
        values(DType::float16, v), mask(DType::float16, {q[0], q[1], q[2], v[2]}),
        out(DType::float16, {q[0], q[2], q[1], v[3]});
    const TensorView views[] = {queries.view(), keys.view(), values.view(), masked ? mask.view() : absent(),
                                out.view()};
    const Status status = row->check({views, attrs, {1, 1, 1}, {kernels::kAttentionThreads, 1, 1}});
    return status.ok() ? std::string() : status.error().first().found;
  };
  const Attrs good = attrs_of(0, false, 1);
  CHECK(said({1, 2, 3, 64}, {1, 2, 3, 64}, good) == "");
  CHECK(said({1, 2, 3, 64}, {1, 2, 3, 64}, good, true) == "has a mask");
  CHECK(said({1, 2, 3, 64}, {1, 2, 3, 64}, good, false, Layout::kTransposed) ==
        "q is not dense along its last axis");
  CHECK(said({1, 2, 3, 72}, {1, 2, 3, 64}, good) == "heads of 72");
  CHECK(said({1, 2, 3, 36}, {1, 2, 3, 64}, good) == "q has steps that are not of 8 elements");
  CHECK(said({1, 2, 3, 64}, {1, 2, 0, 64}, good) == "");
  CHECK(said({1, 2, 3, 0}, {1, 2, 3, 64}, good) == "heads of 0");
  CHECK(said({1, 2, 3, 64}, {1, 2, 3, 60}, good) == "values of 60");
  Attrs wide = good;
  wide[1].second = std::vector<int64_t>{1, 1, 128, 64};
  CHECK(said({1, 2, 3, 64}, {1, 2, 3, 64}, wide) == "its boxes or swizzles are not the kernel's");
}

}  // namespace ge::test
