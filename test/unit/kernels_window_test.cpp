// conv and pool rows against plain loops.
#include <cmath>

#include "contract/scalar_op.h"
#include "kernels_harness.h"

namespace ge::test {
namespace {

struct ConvCase {
  std::vector<int64_t> x, w, y;  // dims
  std::vector<int64_t> strides, dilations, pads;
  int64_t groups;
};
const ConvCase kConvCases[] = {
    {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1}, {1}, {0}, 1},
    {{2, 3, 9}, {4, 3, 3}, {2, 4, 9}, {1}, {1}, {1}, 1},
    {{1, 4, 6, 5}, {6, 2, 3, 2}, {1, 6, 3, 5}, {2, 1}, {1, 1}, {1, 0}, 2},
    {{2, 3, 7, 7}, {3, 1, 3, 3}, {2, 3, 7, 7}, {1, 1}, {1, 1}, {1, 1}, 3},
    {{1, 2, 9, 8}, {33, 2, 3, 3}, {1, 33, 5, 4}, {1, 1}, {2, 2}, {0, 0}, 1},
    {{1, 17, 5, 5}, {18, 17, 1, 1}, {1, 18, 3, 3}, {2, 2}, {1, 1}, {0, 0}, 1},
    {{1, 2, 3, 4, 5}, {2, 2, 2, 2, 2}, {1, 2, 2, 3, 4}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1},
    {{0, 2, 4, 4}, {2, 2, 3, 3}, {0, 2, 4, 4}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{1, 0, 4, 4}, {2, 0, 3, 3}, {1, 2, 4, 4}, {1, 1}, {1, 1}, {1, 1}, 1},
    {{2, 8, 20, 22}, {24, 8, 3, 3}, {2, 24, 20, 22}, {1, 1}, {1, 1}, {1, 1}, 1},
    // Rows wider than a panel, steps of two and three, pads on both sides; a flat plane; depth cut inside a
    // channel.
    {{1, 3, 19, 75}, {5, 3, 7, 7}, {1, 5, 10, 38}, {2, 2}, {1, 1}, {3, 3}, 1},
    {{1, 2, 11, 80}, {3, 2, 3, 2}, {1, 3, 12, 27}, {1, 3}, {1, 2}, {2, 1}, 1},
    {{1, 65, 7, 9}, {20, 65, 1, 1}, {1, 20, 7, 9}, {1, 1}, {1, 1}, {0, 0}, 1},
    {{1, 130, 6, 6}, {4, 130, 3, 3}, {1, 4, 6, 6}, {1, 1}, {1, 1}, {1, 1}, 1},
};

double naive_conv(const ConvCase& c, const TestTensor& x, const TestTensor& w, int64_t linear,
                  const TestTensor& y) {
  const auto out = index_of(y.view(), linear);
  const int64_t group = out[1] / (c.y[1] / c.groups);
  double sum = 0;
  const int64_t taps = w.count() / std::max<int64_t>(1, c.w[0]);
  for (int64_t t = 0; t < taps; ++t) {
    auto at = index_of(w.view(), t);
    at[0] = out[1];
    std::vector<int64_t> from = {out[0], group * c.w[1] + at[1]};
    bool inside = true;
    for (size_t s = 0; s < c.strides.size(); ++s) {
      from.push_back(out[2 + s] * c.strides[s] - c.pads[s] + at[2 + s] * c.dilations[s]);
      inside = inside && from.back() >= 0 && from.back() < c.x[2 + s];
    }
    if (inside) sum += x.at(linear_of(x.view(), from)) * w.at(linear_of(w.view(), at));
  }
  return sum;
}

struct PoolCase {
  std::vector<int64_t> x, y, kernel, strides, dilations, pads_begin, pads_end;
};
const PoolCase kPoolCases[] = {
    {{1, 1, 4}, {1, 1, 3}, {2}, {1}, {1}, {0}, {0}},
    {{2, 3, 7, 9}, {2, 3, 4, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {{1, 2, 5, 5}, {1, 2, 3, 3}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},  // ceil: the last window hangs over
    {{1, 2, 8, 8}, {1, 2, 4, 4}, {3, 3}, {1, 1}, {2, 2}, {0, 0}, {0, 0}},
    {{1, 3, 6, 6}, {1, 3, 1, 1}, {6, 6}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {{1, 2, 3, 4, 5}, {1, 2, 2, 2, 2}, {2, 3, 4}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
    {{0, 2, 4}, {0, 2, 2}, {2}, {2}, {1}, {0}, {0}},
};

double naive_pool(const PoolCase& c, const TestTensor& x, const TestTensor& y, int64_t linear, bool max,
                  bool include) {
  const auto out = index_of(y.view(), linear);
  const size_t spatial = c.kernel.size();
  int64_t taps = 1;
  for (int64_t k : c.kernel) taps *= k;
  double sum = 0, best = is_float(x.view().dtype) ? -INFINITY : -1e18, inside_count = 0, padded_count = 0;
  for (int64_t t = 0; t < taps; ++t) {
    std::vector<int64_t> from = {out[0], out[1]};
    int64_t rest = t;
    std::vector<int64_t> tap(spatial);
    for (size_t s = spatial; s-- > 0;) tap[s] = rest % c.kernel[s], rest /= c.kernel[s];
    bool inside = true, padded = true;
    for (size_t s = 0; s < spatial; ++s) {
      const int64_t p = out[2 + s] * c.strides[s] - c.pads_begin[s] + tap[s] * c.dilations[s];
      inside = inside && p >= 0 && p < c.x[2 + s];
      padded = padded && p < c.x[2 + s] + c.pads_end[s];
      from.push_back(p);
    }
    padded_count += padded;
    if (!inside) continue;
    inside_count += 1;
    const double v = x.at(linear_of(x.view(), from));
    sum += v;
    best = std::max(best, v);
  }
  if (max) return best;
  const double mean = sum / (include ? padded_count : inside_count);
  return is_float(x.view().dtype) ? mean : std::trunc(mean);
}

}  // namespace

TEST_CASE("conv_reference equals the plain sum in every dtype and layout") {
  std::mt19937 rng(9);
  for (DType dtype :
       {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int32, DType::int8}) {
    for (const ConvCase& c : kConvCases) {
      for (size_t l = 0; l < 5; ++l) {
        if (c.x[1] > 4 && l > 2) continue;
        TestTensor x(dtype, c.x, kLayouts[l], 1), w(dtype, c.w, kLayouts[(l + 1) % 5], 1),
            bias(dtype, {c.y[1]}, kLayouts[l]);
        TestTensor y(dtype, c.y, kOutLayouts[l % 4]), residual(dtype, c.y, kLayouts[(l + 2) % 5], 1);
        x.random(rng, 3), w.random(rng, 3), bias.random(rng), residual.random(rng);
        const bool biased = l % 2 == 0, added = l == 1 || l > 2;
        const TensorView biases = biased ? bias.view() : absent(), adds = added ? residual.view() : absent();
        Attrs attrs = {
            {"dilations", c.dilations}, {"groups", c.groups}, {"pads_begin", c.pads}, {"strides", c.strides}};
        if (is_float(dtype) && l == 1) {
          attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::leaky_relu)});
          attrs.emplace_back("activation_alpha", 0.25);
        }
        REQUIRE_OK(run_kernel("conv_reference", {x.view(), w.view(), biases, y.view(), adds}, attrs,
                              {.threads = 2}));
        TestTensor fast(dtype, c.y, kOutLayouts[(l + 1) % 4]);
        const char* gemm = dtype == DType::float32                               ? "conv_gemm_f32"
                           : dtype == DType::float16 || dtype == DType::bfloat16 ? "conv_gemm_f16"
                                                                                 : nullptr;
        if (gemm != nullptr && c.x.size() < 5) {
          REQUIRE_OK(
              run_kernel(gemm, {x.view(), w.view(), biases, fast.view(), adds}, attrs, {.threads = 2}));
          for (int64_t i = 0; i < y.count(); ++i) {
            INFO(gemm << " " << layout_name(kLayouts[l]) << " x channels " << c.x[1] << " groups " << c.groups
                      << " rank " << c.x.size() << " at " << i);
            REQUIRE(near(dtype, fast.at(i), y.at(i), 2, 0.01));
          }
          REQUIRE(fast.guards_stand());
        }
        for (int64_t i = 0; i < y.count(); ++i) {
          const auto at = index_of(y.view(), i);
          double expected =
              naive_conv(c, x, w, i, y) + (biased ? bias.at(at[1]) : 0) + (added ? residual.at(i) : 0);
          if (is_float(dtype) && l == 1 && expected < 0) expected *= 0.25;
          if (dtype == DType::int8) expected = static_cast<int8_t>(static_cast<int64_t>(expected));
          INFO(name_of(dtype) << " " << layout_name(kLayouts[l]) << " x channels " << c.x[1] << " rank "
                              << c.x.size() << " at " << i);
          REQUIRE(y.at(i) == rounded(dtype, expected));
        }
        REQUIRE(y.guards_stand());
      }
    }
  }
}

TEST_CASE("conv_reference refuses groups, channels and lists that do not fit") {
  TestTensor x(DType::float32, {1, 4, 3, 3}), w(DType::float32, {4, 2, 1, 1}),
      y(DType::float32, {1, 4, 3, 3});
  const auto attrs = [](int64_t groups, std::vector<int64_t> strides) {
    return Attrs{{"dilations", std::vector<int64_t>{1, 1}},
                 {"groups", groups},
                 {"pads_begin", std::vector<int64_t>{0, 0}},
                 {"strides", strides}};
  };
  REQUIRE_OK(run_kernel("conv_reference", {x.view(), w.view(), absent(), y.view()}, attrs(2, {1, 1})));
  REQUIRE_CODE(run_kernel("conv_reference", {x.view(), w.view(), absent(), y.view()}, attrs(1, {1, 1})),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("conv_reference", {x.view(), w.view(), absent(), y.view()}, attrs(3, {1, 1})),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("conv_reference", {x.view(), w.view(), absent(), y.view()}, attrs(2, {1})),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("conv_reference", {x.view(), w.view(), absent(), y.view()}, attrs(2, {0, 1})),
               Code::plan_malformed);
}

TEST_CASE("pool rows equal the plain windows") {
  std::mt19937 rng(10);
  for (DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int32,
                      DType::int8, DType::uint8}) {
    for (const PoolCase& c : kPoolCases) {
      for (size_t l = 0; l < 5; ++l) {
        for (int mode = 0; mode < 3; ++mode) {
          const bool max = mode == 0, include = mode == 2;
          TestTensor x(dtype, c.x, kLayouts[l], 1), y(dtype, c.y, kOutLayouts[l % 4]);
          x.random(rng);
          const Attrs attrs = {{"count_include_pad", int64_t{include}},
                               {"dilations", c.dilations},
                               {"kernel", c.kernel},
                               {"kind", int64_t{!max}},
                               {"pads_begin", c.pads_begin},
                               {"pads_end", c.pads_end},
                               {"strides", c.strides}};
          REQUIRE_OK(run_kernel("pool_reference", {x.view(), y.view()}, attrs, {.threads = 2}));
          TestTensor fast(dtype, c.y, kOutLayouts[(l + 1) % 4]);
          const char* planes = dtype == DType::float32                               ? "pool_planes_f32"
                               : dtype == DType::float16 || dtype == DType::bfloat16 ? "pool_planes_f16"
                                                                                     : nullptr;
          if (planes != nullptr && c.x.size() < 5) {
            REQUIRE_OK(run_kernel(planes, {x.view(), fast.view()}, attrs, {.threads = 2}));
            for (int64_t i = 0; i < y.count(); ++i) REQUIRE(near(dtype, fast.at(i), y.at(i), 1, 0.1));
            REQUIRE(fast.guards_stand());
          }
          for (int64_t i = 0; i < y.count(); ++i) {
            INFO(name_of(dtype) << " " << layout_name(kLayouts[l]) << " mode " << mode << " rank "
                                << c.x.size() << " at " << i);
            REQUIRE(y.at(i) == rounded(dtype, naive_pool(c, x, y, i, max, include)));
          }
          REQUIRE(y.guards_stand());
        }
      }
    }
  }
}

TEST_CASE("pool rows: NaN wins a max, padding never does") {
  TestTensor x(DType::float32, {1, 1, 3}), y(DType::float32, {1, 1, 5});
  x.set(0, -5), x.set(1, NAN), x.set(2, -7);
  const std::vector<int64_t> one = {1};
  for (const char* name : {"pool_reference", "pool_planes_f32"}) {
    REQUIRE_OK(run_kernel(name, {x.view(), y.view()},
                          {{"dilations", one},
                           {"kernel", std::vector<int64_t>{2}},
                           {"kind", int64_t{0}},
                           {"pads_begin", std::vector<int64_t>{2}},
                           {"pads_end", one},
                           {"strides", one}}));
    REQUIRE((y.at(0) == -INFINITY && y.at(1) == -5 && std::isnan(y.at(2)) && std::isnan(y.at(3)) &&
             y.at(4) == -7));
  }
}

}  // namespace ge::test
