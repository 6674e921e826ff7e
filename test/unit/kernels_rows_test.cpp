// reduce, softmax and normalize rows against plain loops.
#include <cmath>

#include "kernels/reduce/reduce.h"
#include "kernels_harness.h"

namespace ge::test {
namespace {

using kernels::ReduceKind;
constexpr DType kReal[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16};
constexpr DType kTypes[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16,
                            DType::int64,   DType::int32,   DType::int16,   DType::int8,
                            DType::uint64,  DType::uint32,  DType::uint16,  DType::uint8};

Attrs reduce_attrs(ReduceKind kind, int64_t axes, int64_t last = 0) {
  return {{"axes", axes}, {"kind", static_cast<int64_t>(kind)}, {"select_last", last}};
}

std::vector<int64_t> kept_dims(const std::vector<int64_t>& dims, int64_t axes) {
  std::vector<int64_t> out = dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((axes >> i) & 1) out[i] = 1;
  }
  return out;
}

// The reduced elements of out's element `linear`, in row-major order.
std::vector<double> elements(const TestTensor& in, const TestTensor& out, int64_t axes, int64_t linear) {
  std::vector<double> list;
  const auto wanted = index_of(out.view(), linear);
  for (int64_t i = 0; i < in.count(); ++i) {
    auto index = index_of(in.view(), i);
    bool here = true;
    for (size_t a = 0; a < index.size(); ++a) here = here && (((axes >> a) & 1) || index[a] == wanted[a]);
    if (here) list.push_back(in.at(i));
  }
  return list;
}

double naive_reduce(DType dtype, ReduceKind kind, const std::vector<double>& v, bool last) {
  double sum = 0, product = 1;
  size_t best = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    sum += v[i];
    product *= v[i];
    const bool max = kind == ReduceKind::kMax || kind == ReduceKind::kArgMax;
    if (i > 0 && (max ? v[i] > v[best] : v[i] < v[best])) best = i;
    if (i > 0 && last && v[i] == v[best]) best = i;
  }
  const auto n = static_cast<double>(v.size());
  switch (kind) {
    case ReduceKind::kSum:
      return rounded(dtype, sum);
    case ReduceKind::kProd:
      return rounded(dtype, product);
    case ReduceKind::kMean:
      return rounded(dtype, is_float(dtype) ? sum / n : std::trunc(sum / n));
    case ReduceKind::kMax:
    case ReduceKind::kMin:
      return v[best];
    default:
      return static_cast<double>(best);
  }
}

}  // namespace

TEST_CASE("reduce_reference folds any axes in every dtype and layout") {
  std::mt19937 rng(5);
  const std::vector<std::pair<std::vector<int64_t>, int64_t>> shapes = {{{5}, 1},
                                                                        {{3, 4}, 1},
                                                                        {{3, 4}, 2},
                                                                        {{3, 4}, 3},
                                                                        {{3, 4}, 0},
                                                                        {{2, 3, 4}, 0b101},
                                                                        {{2, 3, 1, 4}, 0b1010},
                                                                        {{0, 3}, 2}};
  for (DType dtype : kTypes) {
    for (const auto& [dims, axes] : shapes) {
      for (int64_t k = 0; k < kernels::kReduceKinds; ++k) {
        const auto kind = static_cast<ReduceKind>(k);
        const bool position = kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin;
        const auto layout = static_cast<size_t>(k + axes) % 5;
        TestTensor in(dtype, dims, kLayouts[layout], 1);
        TestTensor out(position ? DType::int64 : dtype, kept_dims(dims, axes), kOutLayouts[layout % 4]);
        in.random(rng, 2);
        const bool last = (axes & 1) != 0;
        REQUIRE_OK(run_kernel("reduce_reference", {in.view(), out.view()}, reduce_attrs(kind, axes, last),
                              {.threads = 2}));
        for (int64_t i = 0; i < out.count(); ++i) {
          INFO(name_of(dtype) << " kind " << k << " axes " << axes << " rank " << dims.size() << " at " << i);
          const double expected = naive_reduce(dtype, kind, elements(in, out, axes, i), last);
          if (position || is_float(dtype) || kind != ReduceKind::kProd) REQUIRE(out.at(i) == expected);
        }
        REQUIRE(out.guards_stand());
      }
    }
  }
}

TEST_CASE("reduce_reference of nothing gives the neutral value") {
  const double inf = INFINITY;
  const struct {
    DType dtype;
    double sum, prod, max, min;
  } rows[] = {{DType::float32, 0, 1, -inf, inf},
              {DType::float16, 0, 1, -inf, inf},
              {DType::int8, 0, 1, -128, 127},
              {DType::uint16, 0, 1, 0, 65535},
              {DType::int32, 0, 1, -2147483648.0, 2147483647.0}};
  for (const auto& row : rows) {
    TestTensor in(row.dtype, {2, 0}), out(row.dtype, {2, 1});
    const double expected[] = {row.sum, row.prod, row.max, row.min};
    for (int64_t k = 0; k < 4; ++k) {
      REQUIRE_OK(run_kernel("reduce_reference", {in.view(), out.view()},
                            reduce_attrs(static_cast<ReduceKind>(k), 2)));
      REQUIRE((out.at(0) == expected[k] && out.at(1) == expected[k]));
    }
    REQUIRE_OK(run_kernel("reduce_reference", {in.view(), out.view()}, reduce_attrs(ReduceKind::kMean, 2)));
    REQUIRE((is_float(row.dtype) ? std::isnan(out.at(0)) : out.at(0) == 0));
  }
  TestTensor wide(DType::int64, {0}), edge(DType::int64, {1});
  REQUIRE_OK(run_kernel("reduce_reference", {wide.view(), edge.view()}, reduce_attrs(ReduceKind::kMax, 1)));
  REQUIRE(edge.int_at(0) == INT64_MIN);
  REQUIRE_OK(run_kernel("reduce_reference", {wide.view(), edge.view()}, reduce_attrs(ReduceKind::kMin, 1)));
  REQUIRE(edge.int_at(0) == INT64_MAX);
}

TEST_CASE("reduce_reference: NaN wins max and min, the first NaN is the position, bool has max and min") {
  TestTensor in(DType::float32, {4}), out(DType::float32, {1}), position(DType::int32, {1});
  const double values[] = {3, NAN, 9, NAN};
  for (int64_t i = 0; i < 4; ++i) in.set(i, values[i]);
  for (const auto kind : {ReduceKind::kMax, ReduceKind::kMin}) {
    REQUIRE_OK(run_kernel("reduce_reference", {in.view(), out.view()}, reduce_attrs(kind, 1)));
    REQUIRE(std::isnan(out.at(0)));
  }
  for (const auto kind : {ReduceKind::kArgMax, ReduceKind::kArgMin}) {
    REQUIRE_OK(run_kernel("reduce_reference", {in.view(), position.view()}, reduce_attrs(kind, 1, 1)));
    REQUIRE(position.int_at(0) == 1);
  }
  TestTensor flags(DType::boolean, {2, 2}), any(DType::boolean, {2, 1});
  flags.set(1, 1);
  REQUIRE_OK(run_kernel("reduce_reference", {flags.view(), any.view()}, reduce_attrs(ReduceKind::kMax, 2)));
  REQUIRE((any.int_at(0) == 1 && any.int_at(1) == 0));
  REQUIRE_CODE(run_kernel("reduce_reference", {flags.view(), any.view()}, reduce_attrs(ReduceKind::kSum, 2)),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("reduce_reference", {in.view(), out.view()}, reduce_attrs(ReduceKind::kSum, 2)),
               Code::launch_refused);
}

TEST_CASE("integer sums wrap in their own type") {
  TestTensor in(DType::int8, {3}), out(DType::int8, {1});
  for (int64_t i = 0; i < 3; ++i) in.set(i, 100);
  REQUIRE_OK(run_kernel("reduce_reference", {in.view(), out.view()}, reduce_attrs(ReduceKind::kSum, 1)));
  REQUIRE(out.int_at(0) == 44);
}

TEST_CASE("softmax rows sum to one along any axis, and equal the formula") {
  std::mt19937 rng(6);
  for (DType dtype : kReal) {
    for (const auto& dims : std::vector<std::vector<int64_t>>{{1}, {7}, {3, 5}, {2, 3, 4}, {2, 0, 3}}) {
      for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) {
        for (size_t l = 0; l < 5; ++l) {
          TestTensor x(dtype, dims, kLayouts[l], 1), y(dtype, dims, kOutLayouts[l % 4]),
              log_y(dtype, dims, kOutLayouts[(l + 1) % 4]);
          x.random(rng, 30);
          REQUIRE_OK(run_kernel("softmax_reference", {x.view(), y.view()}, {{"axis", axis}}, {.threads = 2}));
          REQUIRE_OK(run_kernel("log_softmax_reference", {x.view(), log_y.view()}, {{"axis", axis}}));
          for (int64_t i = 0; i < x.count(); ++i) {
            auto index = index_of(x.view(), i);
            double sum = 0;
            for (int64_t k = 0; k < dims[static_cast<size_t>(axis)]; ++k) {
              index[static_cast<size_t>(axis)] = k;
              sum += std::exp(x.at(linear_of(x.view(), index)));
            }
            REQUIRE(near(dtype, y.at(i), std::exp(x.at(i)) / sum, 2, dtype == DType::float64 ? 1 : 0x1p-10));
            REQUIRE(near(dtype, log_y.at(i), x.at(i) - std::log(sum), 2, 8));
          }
          REQUIRE((y.guards_stand() && log_y.guards_stand()));
        }
      }
    }
  }
}

TEST_CASE("softmax: large values stay finite, a row of -inf gives NaN, in place works") {
  TestTensor x(DType::float32, {3, 2});
  const double values[] = {1e30, 1e30, -INFINITY, -INFINITY, 0, -INFINITY};
  for (int64_t i = 0; i < 6; ++i) x.set(i, values[i]);
  REQUIRE_OK(run_kernel("softmax_reference", {x.view(), x.view()}, {{"axis", int64_t{1}}}));
  REQUIRE((x.at(0) == 0.5 && x.at(1) == 0.5 && std::isnan(x.at(2)) && std::isnan(x.at(3)) && x.at(4) == 1 &&
           x.at(5) == 0));
}

TEST_CASE("normalize_reference: layer and rms norm with and without scale and bias") {
  std::mt19937 rng(7);
  for (DType dtype : kReal) {
    for (int64_t kind = 0; kind < 2; ++kind) {
      for (size_t l = 0; l < 5; ++l) {
        for (int64_t axis = 0; axis <= 3; ++axis) {
          const std::vector<int64_t> dims = {2, 3, 5};
          TestTensor x(dtype, dims, kLayouts[l], 1), scale(dtype, dims, Layout::kBroadcast, 0b011),
              bias(dtype, dims, Layout::kBroadcast, 0b001);
          TestTensor y(dtype, dims, kOutLayouts[l % 4]);
          std::vector<int64_t> row_dims = dims;
          for (size_t i = static_cast<size_t>(axis); i < 3; ++i) row_dims[i] = 1;
          TestTensor mean(DType::float32, row_dims), inv_std(DType::float32, row_dims, Layout::kReversed);
          x.random(rng), scale.random(rng), bias.random(rng);
          const bool affine = l % 2 == 0, statistics = axis % 2 == 0;
          const Attrs attrs = {{"axis", axis}, {"epsilon", 0.01}, {"kind", kind}};
          REQUIRE_OK(run_kernel(
              "normalize_reference",
              {x.view(), affine ? scale.view() : absent(), affine ? bias.view() : absent(), y.view(),
               statistics ? mean.view() : absent(), statistics ? inv_std.view() : absent()},
              attrs, {.threads = 2}));
          int64_t count = 1;
          for (size_t i = static_cast<size_t>(axis); i < 3; ++i) count *= dims[i];
          for (int64_t row = 0; row < x.count() / count; ++row) {
            double sum = 0, squares = 0;
            for (int64_t i = 0; i < count; ++i) sum += x.at(row * count + i);
            const double m = kind == 0 ? sum / static_cast<double>(count) : 0;
            for (int64_t i = 0; i < count; ++i) squares += std::pow(x.at(row * count + i) - m, 2);
            const double inverse = 1 / std::sqrt(squares / static_cast<double>(count) + 0.01);
            for (int64_t i = 0; i < count; ++i) {
              const int64_t at = row * count + i;
              const double v = (x.at(at) - m) * inverse;
              REQUIRE(near(dtype, y.at(at), affine ? v * scale.at(at) + bias.at(at) : v, 2, 1));
            }
            if (statistics) {
              REQUIRE(near(DType::float32, mean.at(row), m, 1, 1e-6));
              REQUIRE(near(DType::float32, inv_std.at(row), inverse));
            }
          }
          REQUIRE((y.guards_stand() && mean.guards_stand() && inv_std.guards_stand()));
        }
      }
    }
  }
}

}  // namespace ge::test
