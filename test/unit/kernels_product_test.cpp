// dot rows against plain loops, and the fast ones against the reference.
#include <cmath>

#include "contract/scalar_op.h"
#include "kernels_harness.h"

namespace ge::test {
namespace {

struct Case { std::vector<int64_t> batch; int64_t m, n, k; };
std::vector<int64_t> with(std::vector<int64_t> batch, int64_t a, int64_t b) {
  batch.push_back(a);
  batch.push_back(b);
  return batch;
}

const Case kCases[] = {{{}, 1, 1, 1}, {{}, 3, 5, 7}, {{}, 17, 33, 130}, {{2}, 4, 3, 0}, {{}, 0, 3, 2}, {{2, 3}, 5, 1, 9}, {{}, 1, 40, 20}, {{0}, 2, 2, 2}};

double naive_dot(const TestTensor& lhs, const TestTensor& rhs, int64_t batch, int64_t m, int64_t n, int64_t M, int64_t N, int64_t K) {
  double sum = 0;
  for (int64_t k = 0; k < K; ++k) sum += lhs.at((batch * M + m) * K + k) * rhs.at((batch * K + k) * N + n);
  return sum;
}

}  // namespace

TEST_CASE("dot_reference equals the plain sum in every dtype and layout") {
  std::mt19937 rng(8);
  for (DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32, DType::int8, DType::uint8}) {
    for (const Case& c : kCases) {
      for (size_t l = 0; l < 5; ++l) {
        TestTensor lhs(dtype, with(c.batch, c.m, c.k), kLayouts[l], 1), rhs(dtype, with(c.batch, c.k, c.n), kLayouts[(l + 1) % 5], 1);
        TestTensor bias(dtype, with(c.batch, c.m, c.n), Layout::kBroadcast, 1 << c.batch.size());
        TestTensor out(dtype, with(c.batch, c.m, c.n), kOutLayouts[l % 4]);
        lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng);
        const bool biased = l % 2 == 1, relu = l == 3;
        Attrs attrs;
        if (relu) attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::relu)});
        REQUIRE_OK(run_kernel("dot_reference", {lhs.view(), rhs.view(), biased ? bias.view() : absent(), out.view()}, attrs, {.threads = 2}));
        for (int64_t i = 0; i < out.count(); ++i) {
          const int64_t n = i % c.n, m = i / c.n % c.m, batch = i / c.n / c.m;
          double expected = naive_dot(lhs, rhs, batch, m, n, c.m, c.n, c.k) + (biased ? bias.at(i) : 0);
          if (!is_float(dtype)) {  // wraps
            alignas(8) unsigned char bytes[8] = {};
            store_from_int64(dtype, bytes, 0, static_cast<int64_t>(expected));
            expected = load_as_double(dtype, bytes, 0);
          }
          if (relu) expected = std::max(expected, 0.0);
          INFO(name_of(dtype) << " " << layout_name(kLayouts[l]) << " " << c.m << "x" << c.n << "x" << c.k << " at " << i);
          REQUIRE(out.at(i) == rounded(dtype, expected));
        }
        REQUIRE(out.guards_stand());
      }
    }
  }
}

TEST_CASE("dot_reference refuses shapes that do not fit") {
  TestTensor lhs(DType::float32, {2, 3}), rhs(DType::float32, {4, 5}), out(DType::float32, {2, 5}), good(DType::float32, {3, 5});
  REQUIRE_CODE(run_kernel("dot_reference", {lhs.view(), rhs.view(), absent(), out.view()}, {}), Code::launch_refused);
  REQUIRE_CODE(run_kernel("dot_reference", {lhs.view(), good.view(), lhs.view(), out.view()}, {}), Code::launch_refused);
  const Attrs less = {{"activation", int64_t{static_cast<uint16_t>(ScalarOp::less)}}};
  REQUIRE_CODE(run_kernel("dot_reference", {lhs.view(), good.view(), absent(), out.view()}, less), Code::launch_refused);
  REQUIRE_OK(run_kernel("dot_reference", {lhs.view(), good.view(), absent(), out.view()}, {}));
}

}  // namespace ge::test
