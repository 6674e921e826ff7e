// dot rows against plain loops, and the fast ones against the reference.
#include <cmath>
#include <cstring>

#include "contract/scalar_op.h"
#include "kernels/common/activate_row.h"
#include "kernels/dot/micro_kernel.h"
#include "kernels/scalar_reference.h"
#include "kernels_harness.h"

namespace ge::test {
namespace {

struct Case {
  std::vector<int64_t> batch;
  int64_t m, n, k;
};
std::vector<int64_t> with(std::vector<int64_t> batch, int64_t a, int64_t b) {
  batch.push_back(a);
  batch.push_back(b);
  return batch;
}

const Case kCases[] = {{{}, 1, 1, 1}, {{}, 3, 5, 7},     {{}, 17, 33, 130}, {{2}, 4, 3, 0},
                       {{}, 0, 3, 2}, {{2, 3}, 5, 1, 9}, {{}, 1, 40, 20},   {{0}, 2, 2, 2}};

double naive_dot(const TestTensor& lhs, const TestTensor& rhs, int64_t batch, int64_t m, int64_t n, int64_t M,
                 int64_t N, int64_t K) {
  double sum = 0;
  for (int64_t k = 0; k < K; ++k) sum += lhs.at((batch * M + m) * K + k) * rhs.at((batch * K + k) * N + n);
  return sum;
}

}  // namespace

TEST_CASE("dot_reference equals the plain sum in every dtype and layout") {
  std::mt19937 rng(8);
  for (DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64,
                      DType::int32, DType::int8, DType::uint8}) {
    for (const Case& c : kCases) {
      for (size_t l = 0; l < 5; ++l) {
        TestTensor lhs(dtype, with(c.batch, c.m, c.k), kLayouts[l], 1),
            rhs(dtype, with(c.batch, c.k, c.n), kLayouts[(l + 1) % 5], 1);
        TestTensor bias(dtype, with(c.batch, c.m, c.n), Layout::kBroadcast, 1 << c.batch.size());
        TestTensor out(dtype, with(c.batch, c.m, c.n), kOutLayouts[l % 4]),
            residual(dtype, with(c.batch, c.m, c.n), kLayouts[(l + 2) % 5], 1);
        lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng), residual.random(rng);
        const bool biased = l % 2 == 1, relu = l == 3, added = l > 1;
        Attrs attrs;
        if (relu) attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::relu)});
        REQUIRE_OK(run_kernel("dot_reference",
                              {lhs.view(), rhs.view(), biased ? bias.view() : absent(), out.view(),
                               added ? residual.view() : absent()},
                              attrs, {.threads = 2}));
        for (int64_t i = 0; i < out.count(); ++i) {
          const int64_t n = i % c.n, m = i / c.n % c.m, batch = i / c.n / c.m;
          double expected = naive_dot(lhs, rhs, batch, m, n, c.m, c.n, c.k) + (biased ? bias.at(i) : 0) +
                            (added ? residual.at(i) : 0);
          if (!is_float(dtype)) {  // wraps
            alignas(8) unsigned char bytes[8] = {};
            store_from_int64(dtype, bytes, 0, static_cast<int64_t>(expected));
            expected = load_as_double(dtype, bytes, 0);
          }
          if (relu) expected = std::max(expected, 0.0);
          INFO(name_of(dtype) << " " << layout_name(kLayouts[l]) << " " << c.m << "x" << c.n << "x" << c.k
                              << " at " << i);
          REQUIRE(out.at(i) == rounded(dtype, expected));
        }
        REQUIRE(out.guards_stand());
      }
    }
  }
}

TEST_CASE("dot_reference refuses shapes that do not fit") {
  TestTensor lhs(DType::float32, {2, 3}), rhs(DType::float32, {4, 5}), out(DType::float32, {2, 5}),
      good(DType::float32, {3, 5});
  REQUIRE_CODE(run_kernel("dot_reference", {lhs.view(), rhs.view(), absent(), out.view()}, {}),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("dot_reference", {lhs.view(), good.view(), lhs.view(), out.view()}, {}),
               Code::launch_refused);
  const Attrs less = {{"activation", int64_t{static_cast<uint16_t>(ScalarOp::less)}}};
  REQUIRE_CODE(run_kernel("dot_reference", {lhs.view(), good.view(), absent(), out.view()}, less),
               Code::launch_refused);
  REQUIRE_OK(run_kernel("dot_reference", {lhs.view(), good.view(), absent(), out.view()}, {}));
}

TEST_CASE("blocked dot equals the reference in every layout, for any thread count, bit for bit") {
  std::mt19937 rng(20);
  auto cases = std::vector<Case>(std::begin(kCases), std::end(kCases));
  cases.push_back({{}, 300, 70, 520});  // several row tiles, a short panel, three blocks of depth
  cases.push_back({{3}, 29, 300, 257});
  for (DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    const char* name = dtype == DType::float32 ? "dot_blocked_f32" : "dot_blocked_f16";
    for (const Case& c : cases) {
      for (size_t l = 0; l < 5; ++l) {
        if (c.m * c.n * c.k > 1000000 && l > 2) continue;
        TestTensor lhs(dtype, with(c.batch, c.m, c.k), kLayouts[l], 1),
            rhs(dtype, with(c.batch, c.k, c.n), kLayouts[(l + 1) % 5], 1);
        TestTensor bias(dtype, with(c.batch, c.m, c.n), Layout::kBroadcast, 1 << c.batch.size());
        TestTensor out(dtype, with(c.batch, c.m, c.n), kOutLayouts[l % 4]);
        TestTensor again(dtype, with(c.batch, c.m, c.n)), expected(dtype, with(c.batch, c.m, c.n));
        TestTensor residual(dtype, with(c.batch, c.m, c.n), kLayouts[(l + 2) % 5], 1);
        lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng), residual.random(rng);
        const std::vector<TensorView> in = {lhs.view(), rhs.view(), l % 2 == 0 ? bias.view() : absent(),
                                            l > 1 ? residual.view() : absent()};
        Attrs attrs;
        if (l == 2) attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::silu)});
        const auto run = [&](const char* row, const TestTensor& to, int threads) {
          return run_kernel(row, {in[0], in[1], in[2], to.view(), in[3]}, attrs, {.threads = threads});
        };
        REQUIRE_OK(run(name, out, 1));
        REQUIRE_OK(run(name, again, 3));
        REQUIRE_OK(run("dot_reference", expected, 2));
        for (int64_t i = 0; i < out.count(); ++i) {
          INFO(name << " " << layout_name(kLayouts[l]) << " " << c.m << "x" << c.n << "x" << c.k << " at "
                    << i);
          REQUIRE(near(dtype, out.at(i), expected.at(i), 2, 0.01));
          REQUIRE(out.at(i) == again.at(i));
        }
        REQUIRE(out.guards_stand());
      }
    }
  }
}

// Those that this machine can run.
std::vector<const kernels::MicroKernel*> micro_kernels() {
  std::vector<const kernels::MicroKernel*> list = {&kernels::kMicroKernelV2};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    list.push_back(&kernels::kMicroKernelV3);
  if (__builtin_cpu_supports("avx512f")) list.push_back(&kernels::kMicroKernelV4);
#endif
  return list;
}

TEST_CASE("every register tile of this machine gives the plain sum") {
  std::mt19937 rng(21);
  for (const auto* micro : micro_kernels()) {
    std::vector<float> a(static_cast<size_t>(micro->rows) * kernels::kRowStride),
        b(20 * static_cast<size_t>(micro->columns));
    for (float& v : a) v = static_cast<float>(static_cast<int>(rng() % 9) - 4);
    for (float& v : b) v = static_cast<float>(static_cast<int>(rng() % 9) - 4);
    for (int rows = 1; rows <= micro->rows; ++rows) {
      std::vector<float> c(static_cast<size_t>(rows * micro->columns), 1.0f);
      micro->run[rows](12, a.data(), b.data(), micro->columns, c.data(), micro->columns, false);
      micro->run[rows](8, a.data() + 12, b.data() + 12 * micro->columns, micro->columns, c.data(),
                       micro->columns, true);
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < micro->columns; ++j) {
          float sum = 0;
          for (int k = 0; k < 20; ++k)
            sum += a[static_cast<size_t>(i * kernels::kRowStride + k)] *
                   b[static_cast<size_t>(k * micro->columns + j)];
          REQUIRE(c[static_cast<size_t>(i * micro->columns + j)] == sum);
        }
      }
    }
    float in[5 * 7], out[7 * 6] = {};
    for (int i = 0; i < 35; ++i) in[i] = static_cast<float>(i);
    micro->transpose(in, 7, 5, 7, out, 6);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 7; ++j) REQUIRE(out[j * 6 + i] == in[i * 7 + j]);
    }
  }
}

TEST_CASE("every instruction set copies runs of elements and touches no other") {
  for (const auto* micro : micro_kernels()) {
    for (int64_t stride = 1; stride <= 3; ++stride) {
      for (int64_t count = 1; count <= micro->columns; ++count) {
        const int64_t runs = 3, in_step = stride * count + 1, out_step = count + 2;
        // Not an element more than is read: a sanitizer sees what goes past the end.
        std::vector<float> in(static_cast<size_t>((runs - 1) * in_step + (count - 1) * stride + 1));
        for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
        std::vector<float> out(static_cast<size_t>(runs * out_step), -1.0f);
        micro->copy_runs(in.data(), stride, in_step, count, runs, out.data(), out_step);
        for (int64_t i = 0; i < runs * out_step; ++i) {
          const int64_t run = i / out_step, at = i % out_step;
          const float expected = at < count ? static_cast<float>(run * in_step + at * stride) : -1.0f;
          REQUIRE(out[static_cast<size_t>(i)] == expected);
        }
      }
    }
  }
}

TEST_CASE("activations of a row: the same bits from every instruction set, near the reference") {
  std::vector<kernels::ActivateFunction> list = {kernels::kActivateRowV2};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) list.push_back(kernels::kActivateRowV3);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
    list.push_back(kernels::kActivateRowV4);
#endif
  std::vector<float> x = {0.0f,   -0.0f,   1e-30f,   -1e-30f,   88.0f, -88.0f,
                          700.0f, -700.0f, INFINITY, -INFINITY, NAN};
  std::mt19937 rng(22);
  std::normal_distribution<float> normal(0, 3);
  while (x.size() < 100) x.push_back(normal(rng));
  for (uint16_t code = 0; code < 96; ++code) {
    const ScalarOpInfo* info = scalar_op_info(code);
    if (info == nullptr || info->result != ScalarResult::same || !accepts(info->domain, DType::float32) ||
        info->op == ScalarOp::select)
      continue;
    const kernels::Activation activation{code, 0.5, 1.5};
    std::vector<float> first = x;
    list[0](activation, first.data(), static_cast<int64_t>(first.size()));
    for (const kernels::ActivateFunction function : list) {
      std::vector<float> y = x;
      function(activation, y.data(), static_cast<int64_t>(y.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = scalar::apply_real(code, x[i], 0.5, 1.5);
        INFO(info->name << "(" << x[i] << ") = " << y[i] << ", expected " << expected);
        REQUIRE((std::memcmp(&y[i], &first[i], sizeof(float)) == 0 ||
                 (std::isnan(y[i]) && std::isnan(first[i]))));
        const double error = std::abs(y[i] - static_cast<float>(expected));
        const bool same = y[i] == static_cast<float>(expected) || (std::isnan(y[i]) && std::isnan(expected));
        REQUIRE(
            (same || error <= 2e-6 * std::max({1e-30, std::abs(expected), std::abs(double{x[i]}) * 0.1})));
      }
    }
  }
}

}  // namespace ge::test
