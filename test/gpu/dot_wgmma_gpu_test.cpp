// dot_wgmma's rows beside dot_reference: every tile, splits of the depth over clusters, both layouts of the
// right side, epilogues; and what their check refuses, which needs no GPU.
#include <algorithm>

#include "contract/scalar_op.h"
#include "gpu_harness.h"
#include "kernels/dot/dot_wgmma.h"

namespace ge::test {
namespace {

constexpr struct WgmmaRow {
  const char* name;
  DType dtype;
  kernels::WgmmaTileShape tile;
} kRows[] = {
    {"dot_wgmma_64x32_f16_sm90", DType::float16, {64, 32, 1}},
    {"dot_wgmma_64x32_bf16_sm90", DType::bfloat16, {64, 32, 1}},
    {"dot_wgmma_64x64_f16_sm90", DType::float16, {64, 64, 1}},
    {"dot_wgmma_64x64_bf16_sm90", DType::bfloat16, {64, 64, 1}},
    {"dot_wgmma_64x96_f16_sm90", DType::float16, {64, 96, 1}},
    {"dot_wgmma_64x96_bf16_sm90", DType::bfloat16, {64, 96, 1}},
    {"dot_wgmma_64x128_f16_sm90", DType::float16, {64, 128, 2}},
    {"dot_wgmma_64x128_bf16_sm90", DType::bfloat16, {64, 128, 2}},
    {"dot_wgmma_128x64_f16_sm90", DType::float16, {128, 64, 1}},
    {"dot_wgmma_128x64_bf16_sm90", DType::bfloat16, {128, 64, 1}},
    {"dot_wgmma_128x128_f16_sm90", DType::float16, {128, 128, 1}},
    {"dot_wgmma_128x128_bf16_sm90", DType::bfloat16, {128, 128, 1}},
};
struct Product {
  int64_t m, n, k;
};

// One launch; `variant` decides layout, operands, activation, clusters and stages.
void check_launch(TestGpu& gpu, const WgmmaRow& row, const Product& p, int split, int variant,
                  std::mt19937& rng) {
  const bool by_columns = variant % 2 == 0;
  TestTensor lhs(row.dtype, {p.m, p.k}),
      rhs(row.dtype, {p.k, p.n}, by_columns ? Layout::kDense : Layout::kTransposed);
  TestTensor bias(row.dtype, {p.m, p.n}, Layout::kBroadcast, 1), residual(row.dtype, {p.m, p.n}),
      out(row.dtype, {p.m, p.n});
  lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng), residual.random(rng);
  const int64_t width = by_columns ? row.tile.width() : row.tile.columns;
  Attrs attrs{{"box0", std::vector<int64_t>{row.tile.rows, 64}},
              {"box1", std::vector<int64_t>{64, width}},
              {"swizzle0", int64_t{128}},
              {"swizzle1", by_columns ? width * 2 : int64_t{128}},
              {"early", int64_t{variant % 3 == 0 ? 2 : 0}},
              {"narrow", int64_t{variant % 2}}};
  constexpr ScalarOp kActivations[] = {ScalarOp::gelu, ScalarOp::tanh, ScalarOp::relu};
  if (variant % 4 > 0)
    attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(kActivations[variant % 4 - 1])});
  const int64_t tiles =
      (p.m + row.tile.rows - 1) / row.tile.rows * ((p.n + row.tile.columns - 1) / row.tile.columns);
  const int64_t clusters = variant % 5 == 0 ? std::max<int64_t>(tiles / 3, 1) : tiles + variant % 2;
  int stages = 2 + variant % 3;
  while (row.tile.shared_bytes(split, stages) > kernels::kWgmmaSharedBytes) --stages;
  INFO(row.name << " " << p.m << "x" << p.n << "x" << p.k << " split " << split << " stages " << stages);
  // Sums of quarters are exact; the rounding of a result and the activation's 2^-16 are not.
  compare(gpu, row.name, "dot_reference", {&lhs, &rhs, variant % 3 == 1 ? nullptr : &bias, &out}, attrs,
          clusters * split, 2, 0.1, variant % 3 == 2 ? &residual : nullptr,
          {row.tile.block_threads(), split, row.tile.shared_bytes(split, stages)});
}

}  // namespace

TEST_CASE("CUDA dot_wgmma rows equal dot_reference") {
  NEED_GPU(gpu);
  if (gpu->arch() != 90) GE_SKIP("no GPU of sm_90 here");
  std::mt19937 rng(46);
  int variant = 0;
  for (const WgmmaRow& row : kRows)
    for (const Product& p : {Product{1, 8, 8},
                             {3, 72, 40},
                             {64, 64, 64},
                             {65, 136, 1000},
                             {128, 72, 520},
                             {130, 40, 1032},
                             {200, 136, 200}})
      for (const int split : {1, 2, 3, 5, 8}) check_launch(*gpu, row, p, split, variant++, rng);
}

TEST_CASE("CUDA dot_wgmma refuses launches and views that its tiles have no room for") {
  std::mt19937 rng(47);
  const KernelRow* row = find_kernel_row("dot_wgmma_128x64_f16_sm90");
  REQUIRE(row != nullptr);
  TestTensor lhs(DType::float16, {128, 64}), rhs(DType::float16, {64, 64}), out(DType::float16, {128, 64});
  const auto said = [&](const TestTensor& l, const TestTensor& r, const TestTensor& o, Attrs attrs,
                        int64_t block) {
    std::sort(attrs.begin(), attrs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const TensorView views[] = {l.view(), r.view(), absent(), o.view(), absent()};
    const Status status = row->check({views, attrs, {1, 1, 1}, {block, 1, 1}});
    return status.ok() ? std::string() : status.error().first().found;
  };
  const Attrs good{{"box0", std::vector<int64_t>{128, 64}},
                   {"box1", std::vector<int64_t>{64, 64}},
                   {"swizzle0", int64_t{128}},
                   {"swizzle1", int64_t{128}}};
  CHECK(said(lhs, rhs, out, good, 288) == "");
  CHECK(said(lhs, rhs, out, good, 256) == "blocks of 256 threads, the kernel takes 288 along x");
  Attrs wide = good;
  wide[1].second = std::vector<int64_t>{64, 128};
  CHECK(said(lhs, rhs, out, wide, 288) == "its boxes or swizzles are not the tile's");
  const TestTensor odd(DType::float16, {64, 60}), odd_out(DType::float16, {128, 60});
  CHECK(said(lhs, odd, odd_out, good, 1) == "rhs has no dense axis and steps of 8");
  const TestTensor down(DType::float16, {128, 64}, Layout::kTransposed);
  CHECK(said(down, rhs, out, good, 1) == "lhs is not dense along k in steps of 8");
  CHECK(said(lhs, rhs, down, good, 1) == "out is not dense along n in steps of 8");
}

}  // namespace ge::test
