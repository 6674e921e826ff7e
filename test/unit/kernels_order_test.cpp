// scatter, scan and sort_topk rows, and gather with an index for each element.
#include <cmath>
#include <limits>

#include "kernels_harness.h"

namespace ge::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TestTensor numbers(DType dtype, std::vector<int64_t> dims, std::initializer_list<double> values,
                   Layout layout = Layout::kDense) {
  TestTensor t(dtype, std::move(dims), layout);
  int64_t i = 0;
  for (const double v : values) t.set(i++, v);
  return t;
}
void require_equal(const TestTensor& t, std::initializer_list<double> expected) {
  int64_t i = 0;
  for (const double e : expected) {
    const double found = t.at(i++);
    INFO("element " << i - 1 << ": " << found << ", expected " << e);
    REQUIRE((found == e || (std::isnan(found) && std::isnan(e))));
  }
  REQUIRE(t.guards_stand());
}

}  // namespace

TEST_CASE("gather with an index for each element picks along the axis, and no more than data has") {
  for (const Layout layout : {Layout::kDense, Layout::kTransposed, Layout::kReversed, Layout::kGapped}) {
    const TestTensor data = numbers(DType::float32, {2, 3}, {1, 2, 3, 4, 5, 6}, layout);
    const TestTensor at = numbers(DType::int64, {2, 2}, {2, 0, -1, 1}, layout);
    for (const char* name : {"gather_reference", "gather_copy_cpu"}) {
      TestTensor out(DType::float32, {2, 2}, layout);
      REQUIRE_OK(run_kernel(name, {data.view(), at.view(), out.view()},
                            {{"axis", int64_t{1}}, {"elements", int64_t{1}}}));
      require_equal(out, {3, 1, 6, 5});
      REQUIRE_CODE(run_kernel(name, {data.view(), at.view(), out.view()}, {{"axis", int64_t{1}}}),
                   Code::launch_refused);
    }
  }
  TestTensor data(DType::float32, {2, 3}), at(DType::int64, {3, 3}), out(DType::float32, {3, 3});
  const Attrs along_1 = {{"axis", int64_t{1}}, {"elements", int64_t{1}}};
  REQUIRE_CODE(run_kernel("gather_reference", {data.view(), at.view(), out.view()}, along_1),
               Code::launch_refused);
}

TEST_CASE("scatter applies updates of one element in row-major order") {
  const TestTensor at = numbers(DType::int64, {4}, {1, -1, 1, 1});
  const auto scattered = [&](DType dtype, int64_t kind, std::initializer_list<double> updates, int threads) {
    const TestTensor data = numbers(dtype, {3}, {10, 20, 30}, Layout::kReversed);
    const TestTensor put = numbers(dtype, {4}, updates, Layout::kGapped);
    TestTensor out(dtype, {3}, Layout::kReversed);
    REQUIRE_OK(run_kernel("scatter_reference", {data.view(), at.view(), put.view(), out.view()},
                          {{"axis", int64_t{0}}, {"kind", kind}}, {.threads = threads}));
    return out;
  };
  for (const int threads : {1, 3}) {
    require_equal(scattered(DType::float32, 0, {1, 2, 3, 4}, threads), {10, 4, 2});
    require_equal(scattered(DType::int32, 1, {1, 2, 3, 4}, threads), {10, 28, 32});
    require_equal(scattered(DType::float16, 2, {1, 2, 0.5, -1}, threads), {10, -10, 60});
    require_equal(scattered(DType::float64, 3, {25, kNan, 7, 40}, threads), {10, 40, kNan});
    require_equal(scattered(DType::float32, 4, {25, 50, kNan, 1}, threads), {10, kNan, 30});
    require_equal(scattered(DType::int8, 1, {100, 0, 20, 0}, threads), {10, 20 + 120 - 256, 30});
    require_equal(scattered(DType::float8e4m3fn, 1, {1, 0, 1, 1}, threads), {10, 20, 30});  // 21 rounds to 20
  }
}

TEST_CASE("scatter puts slices in by rows and single elements along an axis") {
  const TestTensor data = numbers(DType::float32, {2, 3}, {1, 2, 3, 4, 5, 6}, Layout::kTransposed);
  const TestTensor columns = numbers(DType::int32, {2}, {2, 0});
  const TestTensor slices = numbers(DType::float32, {2, 2}, {10, 20, 30, 40}, Layout::kTransposed);
  TestTensor out(DType::float32, {2, 3}, Layout::kGapped);
  REQUIRE_OK(run_kernel("scatter_reference", {data.view(), columns.view(), slices.view(), out.view()},
                        {{"axis", int64_t{1}}}, {.threads = 2}));
  require_equal(out, {20, 2, 10, 40, 5, 30});
  const TestTensor one = numbers(DType::int64, {1, 2}, {1, 0}), put = numbers(DType::float32, {1, 2}, {7, 8});
  REQUIRE_OK(run_kernel("scatter_reference", {data.view(), one.view(), put.view(), out.view()},
                        {{"axis", int64_t{0}}, {"elements", int64_t{1}}}));
  require_equal(out, {1, 8, 3, 7, 5, 6});
  REQUIRE_CODE(run_kernel("scatter_reference", {data.view(), one.view(), slices.view(), out.view()},
                          {{"axis", int64_t{0}}, {"elements", int64_t{1}}}),
               Code::launch_refused);
}

TEST_CASE("scatter clamps and notes an index out of range") {
  const TestTensor data = numbers(DType::float32, {3}, {1, 2, 3}), put = numbers(DType::float32, {2}, {8, 9});
  const TestTensor at = numbers(DType::int64, {2}, {-7, 1});
  TestTensor out(DType::float32, {3});
  FaultRecord fault;
  REQUIRE_OK(run_kernel("scatter_reference", {data.view(), at.view(), put.view(), out.view()},
                        {{"axis", int64_t{0}}}, {.fault = &fault}));
  REQUIRE((fault.kind == static_cast<uint32_t>(FaultKind::kIndexOutOfRange) && fault.value == -7));
  require_equal(out, {8, 9, 3});
  TestTensor none(DType::float32, {0}), nothing(DType::float32, {0});
  fault = {};
  REQUIRE_OK(run_kernel("scatter_reference", {none.view(), at.view(), put.view(), nothing.view()},
                        {{"axis", int64_t{0}}}, {.fault = &fault}));
  REQUIRE(fault.kind == 1);
}

TEST_CASE("scan sums along an axis, exclusive and from the end") {
  const auto scanned = [](DType dtype, int64_t axis, int64_t exclusive, int64_t reverse, Layout layout) {
    const TestTensor in = numbers(dtype, {2, 3}, {1, 2, 3, 40, 50, 60}, layout);
    TestTensor out(dtype, {2, 3}, Layout::kTransposed);
    REQUIRE_OK(run_kernel("scan_reference", {in.view(), out.view()},
                          {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}, {.threads = 2}));
    return out;
  };
  for (const Layout layout : {Layout::kDense, Layout::kReversed, Layout::kTransposed}) {
    for (const DType dtype : {DType::float32, DType::float16, DType::int64, DType::uint8}) {
      require_equal(scanned(dtype, 1, 0, 0, layout), {1, 3, 6, 40, 90, 150});
      require_equal(scanned(dtype, 1, 1, 0, layout), {0, 1, 3, 0, 40, 90});
      require_equal(scanned(dtype, 1, 0, 1, layout), {6, 5, 3, 150, 110, 60});
      require_equal(scanned(dtype, 1, 1, 1, layout), {5, 3, 0, 110, 60, 0});
      require_equal(scanned(dtype, 0, 0, 0, layout), {1, 2, 3, 41, 52, 63});
    }
  }
  const TestTensor in = numbers(DType::int8, {3}, {100, 100, 100});
  TestTensor out(DType::int8, {3}), empty(DType::int8, {0}), other(DType::int8, {2});
  REQUIRE_OK(run_kernel("scan_reference", {in.view(), out.view()}, {{"axis", int64_t{0}}}));
  require_equal(out, {100, 200 - 256, 300 - 256});
  REQUIRE_OK(run_kernel("scan_reference", {empty.view(), empty.view()}, {{"axis", int64_t{0}}}));
  REQUIRE_CODE(run_kernel("scan_reference", {in.view(), other.view()}, {{"axis", int64_t{0}}}),
               Code::launch_refused);
}

TEST_CASE("sort_topk: best first, NaN greatest, of equals the lower position") {
  const auto best = [](DType dtype, std::initializer_list<double> values, int64_t k, int64_t largest) {
    const TestTensor in = numbers(dtype, {static_cast<int64_t>(values.size())}, values, Layout::kReversed);
    TestTensor out(DType::int64, {k}, Layout::kGapped);
    REQUIRE_OK(run_kernel("sort_topk_reference", {in.view(), out.view()},
                          {{"axis", int64_t{0}}, {"largest", largest}}));
    return out;
  };
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::float64, DType::float32, DType::bfloat16}) {
    require_equal(best(dtype, {1, kNan, -0.0, inf, 0, -inf, kNan}, 7, 1), {1, 6, 3, 0, 2, 4, 5});
    require_equal(best(dtype, {1, kNan, -0.0, inf, 0, -inf, kNan}, 7, 0), {5, 2, 4, 0, 3, 1, 6});
    require_equal(best(dtype, {2, 3, 2, 3, 2}, 3, 1), {1, 3, 0});
  }
  require_equal(best(DType::int8, {-128, 127, 0, -1}, 2, 0), {0, 3});
  require_equal(best(DType::uint8, {255, 127, 0, 128}, 2, 1), {0, 3});
  require_equal(best(DType::boolean, {0, 1, 1, 0}, 4, 1), {1, 2, 0, 3});
  TestTensor wide(DType::uint64, {3}), places(DType::int64, {3});
  wide.set_int(0, 1), wide.set_int(1, -1), wide.set_int(2, INT64_MIN);  // 1, 2^64 - 1, 2^63
  REQUIRE_OK(run_kernel("sort_topk_reference", {wide.view(), places.view()},
                        {{"axis", int64_t{0}}, {"largest", int64_t{1}}}));
  require_equal(places, {1, 2, 0});
  TestTensor more(DType::int64, {4});
  REQUIRE_CODE(run_kernel("sort_topk_reference", {wide.view(), more.view()}, {{"axis", int64_t{0}}}),
               Code::launch_refused);
}

TEST_CASE("sort_topk along any axis, by any number of threads") {
  std::mt19937 rng(5);
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<int64_t> dims = {4, 5, 6}, kept = dims;
    kept[static_cast<size_t>(axis)] = 2;
    TestTensor in(DType::float32, dims, Layout::kTransposed), out(DType::int64, kept),
        again(DType::int64, kept);
    in.random(rng);
    const Attrs attrs = {{"axis", axis}, {"largest", int64_t{1}}};
    REQUIRE_OK(run_kernel("sort_topk_reference", {in.view(), out.view()}, attrs));
    REQUIRE_OK(run_kernel("sort_topk_reference", {in.view(), again.view()}, attrs, {.threads = 4}));
    for (int64_t i = 0; i < out.count(); ++i) {
      REQUIRE(out.int_at(i) == again.int_at(i));
      std::vector<int64_t> at = index_of(out.view(), i);
      const int64_t rank = at[static_cast<size_t>(axis)];
      at[static_cast<size_t>(axis)] = out.int_at(i);
      const double value = in.at(linear_of(in.view(), at));
      int64_t better = 0;
      for (int64_t j = 0; j < dims[static_cast<size_t>(axis)]; ++j) {
        at[static_cast<size_t>(axis)] = j;
        const double other = in.at(linear_of(in.view(), at));
        better += other > value || (other == value && j < out.int_at(i));
      }
      REQUIRE(better == rank);
    }
  }
}

}  // namespace ge::test
