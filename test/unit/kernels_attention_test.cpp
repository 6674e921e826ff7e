// attention rows against the formula in float64: odd lengths, grouped heads, masks, causal rows, nothing to
// attend to.
#include <cmath>
#include <limits>

#include "kernels_harness.h"

namespace ge::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  int64_t batch, heads, shared, queries, keys, size, width;
  int64_t causal = 0;
  enum Mask { kNo, kAdded, kAllowed } mask = kNo;
  double fill = -kInfinity;
  bool zero_empty = false;
};

const Case kCases[] = {
    {1, 1, 1, 1, 1, 1, 1},
    {2, 3, 3, 17, 17, 8, 8},
    {1, 2, 2, 63, 65, 64, 64, 0, Case::kAdded},
    {1, 2, 1, 64, 64, 32, 32, 1},
    {2, 4, 2, 65, 63, 7, 33, 2, Case::kAllowed, -3.0},
    {1, 1, 1, 128, 300, 64, 64},
    {1, 2, 2, 300, 128, 96, 40, 1, Case::kAllowed, -kInfinity, true},
    {1, 2, 1, 300, 1100, 16, 16, 2, Case::kAdded, -kInfinity, true},
    {1, 1, 1, 3, 5, 300, 20},
    {1, 1, 1, 5, 0, 4, 4},
    {1, 2, 2, 4, 3, 0, 4},
    {0, 2, 2, 4, 3, 8, 4},
    {2, 2, 1, 0, 3, 8, 4},
    {1, 1, 1, 2, 3, 8, 0},
    {1, 1, 1, 9, 4, 8, 8, 2},
    {1, 1, 1, 9, 4, 8, 8, 2, Case::kNo, -kInfinity, true},
};

struct Tensors {
  TestTensor q, k, v, mask, out;
  Tensors(DType dtype, const Case& c, size_t l, std::mt19937& rng)
      : q(dtype, {c.batch, c.heads, c.queries, c.size}, kLayouts[l % 4]),
        k(dtype, {c.batch, c.shared, c.keys, c.size}, kLayouts[(l + 1) % 4]),
        v(dtype, {c.batch, c.shared, c.keys, c.width}, kLayouts[(l + 2) % 4]),
        mask(c.mask == Case::kAllowed ? DType::boolean : dtype, {c.batch, c.heads, c.queries, c.keys},
             l % 2 == 0 ? Layout::kBroadcast : Layout::kGapped, l % 2 == 0 ? 3 : 0),
        out(dtype, {c.batch, c.queries, c.heads, c.width}, kOutLayouts[l % 4]) {
    q.random(rng, 4), k.random(rng, 4), v.random(rng, 8);
    for (int64_t i = 0; i < mask.count(); ++i) {
      const bool off = rng() % 3 == 0 || (i / std::max<int64_t>(c.keys, 1)) % 7 == 5;  // whole rows too
      mask.set(i, c.mask == Case::kAllowed ? (off ? 0 : 1)
                  : off                    ? -kInfinity
                                           : static_cast<double>(rng() % 5) / 4);
    }
  }
  std::vector<TensorView> views(const Case& c) {
    return {q.view(), k.view(), v.view(), c.mask == Case::kNo ? absent() : mask.view(), out.view()};
  }
};

Attrs attrs_of(const Case& c, double scale) {
  return {{"causal", c.causal}, {"fill", c.fill}, {"scale", scale}, {"zero_empty", int64_t{c.zero_empty}}};
}

// One row of one head: E numbers.
std::vector<double> naive(const Tensors& t, const Case& c, double scale, int64_t b, int64_t h, int64_t i) {
  const int64_t g = h / (c.heads / c.shared), keys = (b * c.shared + g) * c.keys;
  std::vector<double> scores;
  double top = -kInfinity;
  for (int64_t j = 0; j < c.keys; ++j) {
    double s = 0;
    for (int64_t d = 0; d < c.size; ++d)
      s += t.q.at(((b * c.heads + h) * c.queries + i) * c.size + d) * t.k.at((keys + j) * c.size + d);
    s *= scale;
    const int64_t at = ((b * c.heads + h) * c.queries + i) * c.keys + j;
    if (c.mask == Case::kAdded) s += t.mask.at(at);
    if (c.mask == Case::kAllowed && t.mask.int_at(at) == 0) s = c.fill;
    if (c.causal == 1 && j > i) s = -kInfinity;
    if (c.causal == 2 && j > i + c.keys - c.queries) s = -kInfinity;
    scores.push_back(s);
    top = std::max(top, s);
  }
  std::vector<double> row(static_cast<size_t>(c.width), 0);
  if (c.keys == 0) return row;
  if (top == -kInfinity) {
    std::fill(row.begin(), row.end(), c.zero_empty ? 0 : std::nan(""));
    return row;
  }
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - top);
  for (int64_t j = 0; j < c.keys; ++j)
    for (int64_t e = 0; e < c.width; ++e)
      row[static_cast<size_t>(e)] += scores[static_cast<size_t>(j)] / sum * t.v.at((keys + j) * c.width + e);
  return row;
}

void check(const char* name, DType dtype, double ulps) {
  std::mt19937 rng(77);
  size_t l = 0;
  for (const Case& c : kCases) {
    for (int round = 0; round < 2; ++round, ++l) {
      const double scale = round == 0 ? 0.125 : -0.4;
      Tensors t(dtype, c, l, rng);
      REQUIRE_OK(run_kernel(name, t.views(c), attrs_of(c, scale), {.threads = 1 + 2 * round}));
      REQUIRE(t.out.guards_stand());
      for (int64_t b = 0; b < c.batch; ++b)
        for (int64_t h = 0; h < c.heads; ++h)
          for (int64_t i = 0; i < c.queries; ++i) {
            const std::vector<double> row = naive(t, c, scale, b, h, i);
            for (int64_t e = 0; e < c.width; ++e) {
              const double got = t.out.at(((b * c.queries + i) * c.heads + h) * c.width + e);
              if (near(dtype, got, rounded(dtype, row[static_cast<size_t>(e)]), ulps, 1)) continue;
              INFO(name << " case " << &c - kCases << " layout " << l << " at " << b << "," << h << "," << i
                        << "," << e);
              REQUIRE(got == row[static_cast<size_t>(e)]);
            }
          }
    }
  }
}

}  // namespace

TEST_CASE("attention rows equal the formula in float64") {
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16})
    check("attention_reference", dtype, dtype == DType::float64 ? 64 : 1);
  check("attention_blocked_f32", DType::float32, 24);
  check("attention_blocked_f16", DType::float16, 1);
  check("attention_blocked_f16", DType::bfloat16, 1);
}

TEST_CASE("attention rows pass NaN and infinity on and have the same bits on any number of threads") {
  std::mt19937 rng(5);
  const Case c{1, 2, 2, 70, 300, 16, 16};
  for (const char* name : {"attention_reference", "attention_blocked_f32"}) {
    Tensors t(DType::float32, c, 0, rng);
    t.q.set(3 * 16, std::nan(""));
    t.k.set((300 + 7) * 16, kInfinity);  // head 1: scores of +-inf
    t.v.set(16, kInfinity);              // head 0: key 1's value
    REQUIRE_OK(run_kernel(name, t.views(c), attrs_of(c, 0.25)));
    const auto at = [&](int64_t row, int64_t head, int64_t e) { return t.out.at((row * 2 + head) * 16 + e); };
    CHECK(std::isnan(at(3, 0, 5)));
    CHECK(at(4, 0, 0) == kInfinity);
    CHECK(std::isfinite(at(4, 0, 1)));
    std::vector<unsigned char> bytes = t.out.bytes();
    REQUIRE_OK(run_kernel(name, t.views(c), attrs_of(c, 0.25), {.threads = 7}));
    CHECK(bytes == t.out.bytes());
    for (int64_t i = 0; i < 70; ++i) {
      const double sign = t.q.at((70 + i) * 16);
      CHECK(std::isnan(at(i, 1, 2)) == (sign >= 0));  // 0 * inf and inf - inf; -inf is a key without weight
    }
  }
}

TEST_CASE("attention refuses operands that do not fit together") {
  std::mt19937 rng(6);
  const Case c{1, 4, 2, 3, 5, 8, 8};
  const auto said = [&](const std::function<void(std::vector<TensorView>&)>& change) {
    Tensors t(DType::float32, c, 0, rng);
    auto views = t.views(c);
    change(views);
    const Status status = run_kernel("attention_blocked_f32", views, attrs_of(c, 1));
    return status.ok() ? std::string("ok") : status.error().to_string();
  };
  CHECK(said([](auto&) {}) == "ok");
  CHECK(said([](auto& v) { v[1].dims[1] = v[2].dims[1] = 3; }).find("q has 4 heads, k 3") !=
        std::string::npos);
  CHECK(said([](auto& v) { v[1].dims[2] = 4; }).find("v's length") != std::string::npos);
  CHECK(said([](auto& v) { v[0].dims[3] = 7; }).find("k's head size") != std::string::npos);
  CHECK(said([](auto& v) { v[4].dims[1] = 2; }).find("out's axis 1") != std::string::npos);
}

}  // namespace ge::test
