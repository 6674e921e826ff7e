// Every built-in CUDA kernel against its reference row on the CPU: element types, layouts, odd sizes, and any
// grid. Convolutions and pools: conv_gpu_test.cpp; gather, scatter, scan and sort: index_gpu_test.cpp.
#include <cmath>
#include <limits>

#include "contract/scalar_op.h"
#include "gpu_harness.h"
#include "kernels/reduce/reduce.h"

namespace ge::test {
namespace {

std::vector<int64_t> with(std::vector<int64_t> batch, int64_t a, int64_t b) {
  batch.push_back(a);
  batch.push_back(b);
  return batch;
}
}  // namespace

TEST_CASE("CUDA dot rows equal dot_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(30);
  struct Case {
    std::vector<int64_t> batch;
    int64_t m, n, k;
  };
  const Case cases[] = {{{}, 1, 1, 1},       {{}, 3, 5, 7},       {{}, 65, 129, 40},   {{2}, 4, 3, 0},
                        {{}, 0, 3, 2},       {{2, 3}, 5, 1, 9},   {{}, 1, 200, 64},    {{}, 128, 128, 128},
                        {{}, 200, 72, 264},  {{}, 90, 1300, 300}, {{}, 700, 900, 100}, {{3}, 70, 80, 96},
                        {{}, 1536, 1400, 96}};
  struct Row {
    const char* name;
    std::vector<DType> types;
  };
  const Row rows[] = {{"dot_mma_f16_sm80", {DType::float16}},
                      {"dot_mma_bf16_sm80", {DType::bfloat16}},
                      {"dot_tiled_f32_sm80", {DType::float32}},
                      {"dot_generic_sm80",
                       {DType::float64, DType::float32, DType::float16, DType::int64, DType::int32,
                        DType::int8, DType::uint8}}};
  for (const Row& row : rows) {
    for (const DType dtype : row.types) {
      for (const Case& c : cases) {
        for (size_t l = 0; l < 5; ++l) {
          if (c.m * c.n * c.k > 100000000 && (l > 1 || std::string_view(row.name) == "dot_generic_sm80"))
            continue;
          TestTensor lhs(dtype, with(c.batch, c.m, c.k), kLayouts[l % 2 == 0 ? 0 : l], 1),
              rhs(dtype, with(c.batch, c.k, c.n), kLayouts[(l + 1) % 5], 1);
          TestTensor bias(dtype, with(c.batch, c.m, c.n), Layout::kBroadcast, 1 << c.batch.size()),
              out(dtype, with(c.batch, c.m, c.n), kOutLayouts[l % 4]);
          TestTensor residual(dtype, with(c.batch, c.m, c.n), kLayouts[(l + 2) % 5], 1);
          lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng), residual.random(rng);
          Attrs attrs;
          if (is_float(dtype) && l == 2)
            attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::gelu)});
          INFO(row.name << " " << layout_name(kLayouts[l]) << " " << c.m << "x" << c.n << "x" << c.k);
          compare(*gpu, row.name, "dot_reference", {&lhs, &rhs, l % 2 == 0 ? &bias : nullptr, &out}, attrs,
                  kGrids[l % 3], 4, 0.1, l > 1 ? &residual : nullptr);
        }
      }
    }
  }
}

TEST_CASE("CUDA epilogues equal the reference's activations") {
  NEED_GPU(gpu);
  std::mt19937 rng(31);
  const struct {
    int64_t code;
    double alpha, beta;
  } ops[] = {
#define GE_ACTIVATION_1(name, code) {code, 0, 0},
#define GE_ACTIVATION_2(name, code) {code, 0.75, 0},
#define GE_ACTIVATION_3(name, code) {code, 0.25, 0.5},
#include "kernels/common/epilogue_ops.def"
#undef GE_ACTIVATION_1
#undef GE_ACTIVATION_2
#undef GE_ACTIVATION_3
  };
  for (const auto& op : ops) {
    TestTensor lhs(DType::float32, {9, 4}), rhs(DType::float32, {4, 11}), out(DType::float32, {9, 11});
    lhs.random(rng, 6), rhs.random(rng, 6);
    INFO("activation " << op.code);
    compare(*gpu, "dot_tiled_f32_sm80", "dot_reference", {&lhs, &rhs, nullptr, &out},
            {{"activation", op.code}, {"activation_alpha", op.alpha}, {"activation_beta", op.beta}}, 2, 8,
            1e-3);
  }
}

TEST_CASE("CUDA reduce rows equal reduce_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(34);
  using kernels::ReduceKind;
  const std::vector<std::pair<std::vector<int64_t>, int64_t>> shapes = {
      {{5}, 1},    {{3, 100}, 1},       {{3, 100}, 2},          {{3, 4}, 3},
      {{3, 4}, 0}, {{2, 3, 40}, 0b101}, {{2, 3, 1, 4}, 0b1010}, {{0, 3}, 2},
      {{2, 0}, 2}};
  for (const DType dtype : kAllCuda) {
    for (const auto& [dims, axes] : shapes) {
      for (int64_t k = 0; k < kernels::kReduceKinds; ++k) {
        const auto layout = static_cast<size_t>(k + axes) % 5;
        const bool position = k >= static_cast<int64_t>(ReduceKind::kArgMax);
        std::vector<int64_t> kept = dims;
        for (size_t i = 0; i < dims.size(); ++i) {
          if ((axes >> i) & 1) kept[i] = 1;
        }
        TestTensor in(dtype, dims, kLayouts[layout], 1),
            out(position ? DType::int64 : dtype, kept, kOutLayouts[layout % 4]);
        in.random(rng, 2);
        if (is_float(dtype) && k > 1 && axes == 2 && in.count() > 150) in.set(150, NAN);
        const Attrs attrs = {{"axes", axes}, {"kind", k}, {"select_last", axes & 1}};
        INFO(name_of(dtype) << " kind " << k << " axes " << axes);
        compare(*gpu, "reduce_generic_sm80", "reduce_reference", {&in, &out}, attrs, kGrids[layout % 3], 1,
                0.1);
      }
    }
  }
}

TEST_CASE("CUDA attention rows equal attention_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(44);
  struct Case {
    int64_t batch, heads, shared, queries, keys, size, width, causal;
    int mask;  // 0: none, 1: added, 2: bool, 3: added, whole rows -inf
    bool zero_empty = false;
  };
  const Case cases[] = {{1, 1, 1, 1, 1, 1, 1, 0, 0},
                        {2, 3, 3, 17, 17, 8, 8, 1, 0},
                        {1, 2, 2, 63, 65, 64, 64, 0, 1},
                        {1, 2, 1, 64, 64, 32, 32, 1, 3, true},
                        {2, 4, 2, 65, 63, 7, 33, 2, 2},
                        {1, 1, 1, 128, 300, 64, 64, 0, 3},
                        {1, 4, 2, 300, 128, 96, 40, 1, 2, true},
                        {1, 2, 1, 300, 257, 128, 128, 2, 1},
                        {3, 8, 2, 257, 129, 128, 100, 0, 0},
                        {1, 1, 1, 5, 0, 4, 4, 0, 0},
                        {1, 2, 2, 4, 3, 0, 4, 0, 0},
                        {0, 2, 2, 4, 3, 8, 4, 0, 0},
                        {2, 2, 1, 0, 3, 8, 4, 0, 0},
                        {1, 1, 1, 9, 4, 8, 8, 2, 0},
                        {8, 12, 12, 128, 128, 64, 64, 0, 0},
                        {16, 12, 12, 128, 128, 64, 64, 1, 0},
                        {4, 16, 4, 300, 300, 96, 96, 1, 0},
                        {4, 16, 16, 256, 200, 128, 128, 0, 1},
                        {2, 12, 12, 512, 512, 64, 64, 1, 0},
                        {16, 12, 3, 130, 90, 20, 30, 2, 2}};
  const char* const kRows[2][2] = {{"attention_mma64_f16_sm80", "attention_mma64_bf16_sm80"},
                                   {"attention_mma128_f16_sm80", "attention_mma128_bf16_sm80"}};
  size_t l = 0;
  for (const Case& c : cases) {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      const bool small = std::max(c.size, c.width) <= 64, half = dtype == DType::float16;
      const char* const row = kRows[small ? 0 : 1][half ? 0 : 1];
      // Dense ones take 16 bytes at a time, the others element by element.
      const bool dense = l % 3 == 0;
      const auto layout = [&](size_t i) { return dense ? Layout::kDense : kLayouts[(l + i) % 4]; };
      TestTensor q(dtype, {c.batch, c.heads, c.queries, c.size}, layout(0)),
          k(dtype, {c.batch, c.shared, c.keys, c.size}, layout(1)),
          v(dtype, {c.batch, c.shared, c.keys, c.width}, layout(2)),
          mask(c.mask == 2 ? DType::boolean : dtype, {c.batch, c.heads, c.queries, c.keys},
               l % 2 == 0 ? Layout::kBroadcast : Layout::kGapped, l % 2 == 0 ? 3 : 0);
      q.random(rng, 4), k.random(rng, 4), v.random(rng, 8);
      for (int64_t i = 0; i < mask.count(); ++i) {
        const bool off = rng() % 3 == 0 || (c.mask == 3 && i / std::max<int64_t>(c.keys, 1) % 7 == 5);
        mask.set(i, c.mask == 2 ? !off : off ? -std::numeric_limits<double>::infinity() : (rng() % 5) / 4.0);
      }
      for (const int64_t grid : kGrids) {
        TestTensor out(dtype, {c.batch, c.queries, c.heads, c.width},
                       dense ? Layout::kDense : kOutLayouts[l % 4]);
        compare(*gpu, row, "attention_reference", {&q, &k, &v, c.mask == 0 ? nullptr : &mask, &out},
                {{"causal", c.causal},
                 {"fill", l % 2 == 0 ? -3.0 : -std::numeric_limits<double>::infinity()},
                 {"scale", 0.125},
                 {"zero_empty", int64_t{c.zero_empty}}},
                grid, 4, 1);
      }
      ++l;
    }
  }
}

TEST_CASE("CUDA attention rows that see no key are zero beside infinite values") {
  NEED_GPU(gpu);
  std::mt19937 rng(45);
  for (const int64_t size : {8, 128}) {
    TestTensor q(DType::float16, {1, 2, 33, size}), k(DType::float16, {1, 2, 21, size}),
        v(DType::float16, {1, 2, 21, size}), mask(DType::boolean, {1, 2, 33, 21}),
        out(DType::float16, {1, 33, 2, size});
    q.random(rng, 4), k.random(rng, 4);
    for (int64_t i = 0; i < v.count(); ++i)
      v.set(i, i % 2 == 0 ? std::numeric_limits<double>::infinity() : std::nan(""));
    for (int64_t i = 0; i < mask.count(); ++i) mask.set(i, 0);
    compare(*gpu, size <= 64 ? "attention_mma64_f16_sm80" : "attention_mma128_f16_sm80",
            "attention_reference", {&q, &k, &v, &mask, &out},
            {{"causal", int64_t{0}},
             {"fill", -std::numeric_limits<double>::infinity()},
             {"scale", 0.125},
             {"zero_empty", int64_t{1}}},
            kGrids[1], 4, 1);
  }
}

}  // namespace ge::test
