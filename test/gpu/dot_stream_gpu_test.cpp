// dot_stream's rows beside dot_reference: row counts, both layouts of the right side, splits of the depth
// over clusters, epilogues, the same bits ten times; and what their check refuses, which needs no GPU.
#include <algorithm>
#include <cstring>

#include "contract/scalar_op.h"
#include "gpu_harness.h"
#include "kernels/dot/dot_stream.h"

namespace ge::test {
namespace {

constexpr struct StreamRowName {
  const char* name;
  DType dtype;
  int rows;
  kernels::StreamShape shape;
} kRows[] = {
    {"dot_stream_n1_f16_sm80", DType::float16, 1, {2, false}},
    {"dot_stream_k1_f16_sm80", DType::float16, 1, {2, true}},
    {"dot_stream_n1_bf16_sm80", DType::bfloat16, 1, {2, false}},
    {"dot_stream_k1_bf16_sm80", DType::bfloat16, 1, {2, true}},
    {"dot_stream_n1_f32_sm80", DType::float32, 1, {4, false}},
    {"dot_stream_k1_f32_sm80", DType::float32, 1, {4, true}},
    {"dot_stream_n4_f16_sm80", DType::float16, 4, {2, false}},
    {"dot_stream_k4_f16_sm80", DType::float16, 4, {2, true}},
    {"dot_stream_n4_bf16_sm80", DType::bfloat16, 4, {2, false}},
    {"dot_stream_k4_bf16_sm80", DType::bfloat16, 4, {2, true}},
    {"dot_stream_n4_f32_sm80", DType::float32, 4, {4, false}},
    {"dot_stream_k4_f32_sm80", DType::float32, 4, {4, true}},
};
struct Product {
  int64_t m, n, k;
};

// One launch; `variant` decides operands, activation and clusters.
void check_launch(TestGpu& gpu, const StreamRowName& row, const Product& p, int split, int variant,
                  std::mt19937& rng) {
  TestTensor lhs(row.dtype, {p.m, p.k}),
      rhs(row.dtype, {p.k, p.n}, row.shape.by_depth ? Layout::kTransposed : Layout::kDense);
  TestTensor bias(row.dtype, {p.m, p.n}, Layout::kBroadcast, 1), residual(row.dtype, {p.m, p.n}),
      out(row.dtype, {p.m, p.n});
  lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng), residual.random(rng);
  Attrs attrs{{"early", int64_t{variant % 3 == 0 ? 2 : 0}}};
  constexpr ScalarOp kActivations[] = {ScalarOp::gelu, ScalarOp::tanh, ScalarOp::relu};
  if (variant % 4 > 0)
    attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(kActivations[variant % 4 - 1])});
  const int64_t strips =
      (p.m + row.rows - 1) / row.rows * ((p.n + row.shape.strip() - 1) / row.shape.strip());
  const int64_t clusters = std::max<int64_t>(variant % 5 == 0 ? strips / 3 : strips + variant % 2, 1);
  INFO(row.name << " " << p.m << "x" << p.n << "x" << p.k << " split " << split << " variant " << variant);
  // Sums of quarters are exact; the rounding of a result and the activation are not.
  compare(gpu, row.name, "dot_reference", {&lhs, &rhs, variant % 3 == 1 ? nullptr : &bias, &out}, attrs,
          clusters * split, row.dtype == DType::float32 ? 16 : 2, 0.1, variant % 3 == 2 ? &residual : nullptr,
          {row.shape.threads(), split, 0});
}

}  // namespace

TEST_CASE("CUDA dot_stream rows equal dot_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(48);
  int variant = 0;
  for (const StreamRowName& row : kRows)
    for (const Product& p : {Product{1, 8, 8},
                             {1, 72, 40},
                             {1, 264, 4104},
                             {1, 8, 9000},
                             {2, 96, 1000},
                             {3, 136, 520},
                             {4, 40, 2056},
                             {5, 72, 200},
                             {9, 48, 4200}})
      for (const int split : {1, 2, 3, 8})
        if (split == 1 || gpu->arch() == 90) check_launch(*gpu, row, p, split, variant++, rng);
}

TEST_CASE("CUDA dot_stream takes no rows and any number of columns along a dense depth") {
  NEED_GPU(gpu);
  std::mt19937 rng(49);
  check_launch(*gpu, kRows[0], {0, 64, 64}, 1, 0, rng);
  for (const StreamRowName& row : kRows)
    for (const int64_t n : {1, 7, 33})
      if (row.shape.by_depth) check_launch(*gpu, row, {1, n, 1024}, 1, static_cast<int>(n), rng);
}

TEST_CASE("CUDA dot_stream passes NaN and infinities on, to their columns alone") {
  NEED_GPU(gpu);
  std::mt19937 rng(50);
  const float kStrange[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  for (const StreamRowName& row : kRows) {
    TestTensor lhs(row.dtype, {1, 776}),
        rhs(row.dtype, {776, 72}, row.shape.by_depth ? Layout::kTransposed : Layout::kDense),
        out(row.dtype, {1, 72});
    lhs.random(rng, 3), rhs.random(rng, 3);
    rhs.set(72 * 775 + 71, kStrange[0]), rhs.set(5, kStrange[1]);
    INFO(row.name);
    compare(*gpu, row.name, "dot_reference", {&lhs, &rhs, nullptr, &out}, {}, 9, 16, 0.1, nullptr,
            {row.shape.threads(), 1, 0});
  }
}

TEST_CASE("CUDA dot_stream gives the same bits in every run") {
  NEED_GPU(gpu);
  std::mt19937 rng(51);
  for (const StreamRowName& row : kRows) {
    TestTensor lhs(row.dtype, {row.rows, 3080}),
        rhs(row.dtype, {3080, 520}, row.shape.by_depth ? Layout::kTransposed : Layout::kDense),
        out(row.dtype, {row.rows, 520});
    lhs.random(rng), rhs.random(rng);
    const int split = gpu->arch() == 90 ? 4 : 1;
    std::vector<unsigned char> first;
    for (int run = 0; run < 10; ++run) {
      INFO(row.name << " run " << run);
      REQUIRE_OK(gpu->run(row.name, {&lhs, &rhs, nullptr, &out}, {}, 70 * split, nullptr, 1,
                          {row.shape.threads(), split, 0}));
      const std::vector<unsigned char> bytes(out.bytes().begin(), out.bytes().end());
      if (run > 0) REQUIRE((bytes == first));
      first = bytes;
    }
  }
}

TEST_CASE("CUDA dot_stream refuses views that it does not walk in vectors") {
  const KernelRow* row = find_kernel_row("dot_stream_n1_f16_sm80");
  const KernelRow* along_k = find_kernel_row("dot_stream_k1_f16_sm80");
  REQUIRE((row != nullptr && along_k != nullptr));
  const auto said = [&](const KernelRow& asked, const TestTensor& l, const TestTensor& r, const TestTensor& o,
                        int64_t block) {
    const TensorView views[] = {l.view(), r.view(), absent(), o.view(), absent()};
    const Attrs none;
    const Status status = asked.check({views, none, {1, 1, 1}, {block, 1, 1}});
    return status.ok() ? std::string() : status.error().first().found;
  };
  const TestTensor lhs(DType::float16, {2, 64}), rhs(DType::float16, {64, 64}), out(DType::float16, {2, 64});
  const TestTensor turned(DType::float16, {64, 64}, Layout::kTransposed);
  CHECK(said(*row, lhs, rhs, out, 512) == "");
  CHECK(said(*along_k, lhs, turned, out, 256) == "");
  CHECK(said(*row, lhs, rhs, out, 128) == "blocks of 128 threads, the kernel takes 512 along x");
  CHECK(said(*row, lhs, turned, out, 1) == "rhs is not dense along n in steps of 16 bytes");
  CHECK(said(*along_k, lhs, rhs, out, 1) == "rhs is not dense along k in steps of 16 bytes");
  const TestTensor odd(DType::float16, {64, 60}), odd_out(DType::float16, {2, 60});
  CHECK(said(*row, lhs, odd, odd_out, 1) == "rhs is not dense along n in steps of 16 bytes");
  const TestTensor deep(DType::float16, {1, 60}), deep_rhs(DType::float16, {60, 64}),
      one(DType::float16, {1, 64});
  CHECK(said(*row, deep, deep_rhs, one, 1) == "");
  const TestTensor down(DType::float16, {2, 64}, Layout::kTransposed);
  CHECK(said(*row, down, rhs, out, 1) == "lhs is not dense along k in steps of 16 bytes");
  CHECK(said(*row, lhs, rhs, down, 1) == "out is not dense along n");
}

}  // namespace ge::test
