// What the large CUDA kernels reach, printed: kernels_gpu_test "[.speed]".
#include <algorithm>
#include <cstdio>
#include <limits>

#include "gpu_harness.h"

namespace ge::test {

TEST_CASE("speed of the CUDA attention", "[.speed]") {
  NEED_GPU(gpu);
  std::mt19937 rng(45);
  struct Case {
    int64_t batch, heads, length, size, causal;
  };
  for (const Case& c : {Case{1, 12, 128, 64, 0}, Case{8, 12, 128, 64, 0}, Case{32, 12, 512, 64, 0},
                        Case{1, 12, 512, 64, 1}, Case{8, 12, 197, 64, 0}, Case{1, 32, 512, 64, 1},
                        Case{4, 16, 2048, 64, 0}, Case{4, 16, 2048, 128, 0}, Case{4, 16, 2048, 128, 1}}) {
    const std::vector<int64_t> dims{c.batch, c.heads, c.length, c.size};
    TestTensor q(DType::float16, dims), k(DType::float16, dims), v(DType::float16, dims);
    q.random(rng, 8), k.random(rng, 8), v.random(rng, 8);
    TestTensor out(DType::float16, {c.batch, c.length, c.heads, c.size});
    const std::string row = c.size <= 64 ? "attention_mma64_f16_sm80" : "attention_mma128_f16_sm80";
    const auto tiles = [&](int64_t rows) { return (c.length + rows - 1) / rows * c.batch * c.heads; };
    const int64_t grid = std::min(tiles(32), std::max<int64_t>(tiles(128), 512));
    REQUIRE_OK(gpu->run(row, {&q, &k, &v, nullptr, &out},
                        {{"causal", c.causal},
                         {"fill", -std::numeric_limits<double>::infinity()},
                         {"scale", 0.125},
                         {"zero_empty", int64_t{0}}},
                        grid, nullptr, 20));
    const double flops =
        4.0 * static_cast<double>(c.batch * c.heads * c.length * c.length * c.size) / (c.causal != 0 ? 2 : 1);
    std::printf("%s b%lld h%lld s%lld d%lld causal %lld: %.2f us, %.0f TFLOP/s\n", row.c_str(),
                static_cast<long long>(c.batch), static_cast<long long>(c.heads),
                static_cast<long long>(c.length), static_cast<long long>(c.size),
                static_cast<long long>(c.causal), gpu->last_us(), flops / gpu->last_us() * 1e-6);
  }
}

TEST_CASE("speed of the large CUDA kernels", "[.speed]") {
  NEED_GPU(gpu);
  std::mt19937 rng(36);
  const auto fill = [&](TestTensor& t) {
    for (int64_t i = 0; i < t.count(); i += 7)
      t.set(i, static_cast<double>(static_cast<int>(rng() % 17) - 8) / 8);
  };
  struct Dot {
    const char* row;
    DType dtype;
    int64_t m, n, k;
    bool transposed;
  };
  for (const Dot& d : {Dot{"dot_mma_f16_sm80", DType::float16, 4096, 4096, 4096, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 4096, 4096, 4096, true},
                       Dot{"dot_mma_f16_sm80", DType::float16, 512, 3072, 768, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 64, 4096, 1024, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 64, 4096, 4096, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 64, 1024, 4096, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 128, 768, 768, true},
                       Dot{"dot_mma_f16_sm80", DType::float16, 1, 4096, 4096, false},
                       Dot{"dot_tiled_f32_sm80", DType::float32, 2048, 2048, 2048, false},
                       Dot{"dot_tiled_f32_sm80", DType::float32, 64, 4096, 1024, false}}) {
    TestTensor lhs(d.dtype, {d.m, d.k}),
        rhs(d.dtype, {d.k, d.n}, d.transposed ? Layout::kTransposed : Layout::kDense),
        out(d.dtype, {d.m, d.n});
    fill(lhs), fill(rhs);
    REQUIRE_OK(gpu->run(d.row, {&lhs, &rhs, nullptr, &out}, {},
                        (d.m + 63) / 64 * ((d.n + 63) / 64) * (d.m < 256 ? 8 : 1), nullptr, 20));
    std::printf("%-28s %5lld x %5lld x %5lld%s %9.1f us %8.2f TFLOP/s\n", d.row, static_cast<long long>(d.m),
                static_cast<long long>(d.n), static_cast<long long>(d.k), d.transposed ? " T" : "  ",
                gpu->last_us(), 2.0 * static_cast<double>(d.m * d.n * d.k) / gpu->last_us() * 1e-6);
  }
  struct Conv {
    const char* row;
    DType dtype;
    int64_t n, c, size, m, k, groups;
  };
  for (const Conv& c : {Conv{"conv_implicit_gemm_f16_sm80", DType::float16, 1, 64, 56, 64, 3, 1},
                        Conv{"conv_implicit_gemm_f16_sm80", DType::float16, 32, 128, 28, 128, 3, 1},
                        Conv{"conv_implicit_gemm_f16_sm80", DType::float16, 32, 256, 14, 1024, 1, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 64, 56, 64, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 128, 28, 128, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 256, 14, 256, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 512, 7, 512, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 64, 56, 64, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 128, 28, 128, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 256, 14, 256, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 512, 7, 512, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 1, 64, 56, 64, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 1, 256, 14, 256, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 1, 512, 7, 512, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 8, 128, 28, 128, 3, 1},
                        Conv{"conv_direct_f32_sm80", DType::float32, 8, 128, 28, 128, 3, 1},
                        Conv{"conv_windows_sm80", DType::float16, 8, 128, 56, 128, 3, 128}}) {
    const bool last = std::string_view(c.row).starts_with("conv_nhwc");
    const auto tensor = [&](std::vector<int64_t> dims) {
      return last ? channels_last(c.dtype, dims) : TestTensor(c.dtype, dims);
    };
    TestTensor x = tensor({c.n, c.c, c.size, c.size}), w = tensor({c.m, c.c / c.groups, c.k, c.k}),
               y = tensor({c.n, c.m, c.size, c.size});
    fill(x), fill(w);
    const std::vector<int64_t> one = {1, 1}, pad = {c.k / 2, c.k / 2};
    REQUIRE_OK(gpu->run(c.row, {&x, &w, nullptr, &y},
                        {{"dilations", one}, {"groups", c.groups}, {"pads_begin", pad}, {"strides", one}},
                        std::min<int64_t>((y.count() + 255) / 256, 4096) / 4 * 4, nullptr, 20));
    std::printf("%-28s n %lld c %lld %lldx%lld m %lld k %lld %9.1f us %8.2f TFLOP/s\n", c.row,
                static_cast<long long>(c.n), static_cast<long long>(c.c), static_cast<long long>(c.size),
                static_cast<long long>(c.size), static_cast<long long>(c.m), static_cast<long long>(c.k),
                gpu->last_us(),
                2.0 * static_cast<double>(y.count() * c.c / c.groups * c.k * c.k) / gpu->last_us() * 1e-6);
  }
}

}  // namespace ge::test
