// Parts of the runtime by themselves: scratch memory, matmul shapes for cuBLASLt, the launch table.
#include <algorithm>
#include <cstring>

#include "catch.h"
#include "runtime/cpu/scratch.h"
#include "runtime/cuda/matmul_shape.h"
#include "runtime/launch_table.h"

using namespace ge;
using cuda::BiasKind;
using cuda::matmul_shape;
using cuda::MatmulShape;

namespace {

TensorView dense(std::initializer_list<int64_t> dims) {
  TensorView v;
  v.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), v.dims);
  int64_t stride = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    v.strides[i] = stride;
    stride *= v.dims[i];
  }
  return v;
}
TensorView transposed(TensorView v) {
  std::swap(v.dims[v.rank - 1], v.dims[v.rank - 2]);
  std::swap(v.strides[v.rank - 1], v.strides[v.rank - 2]);
  return v;
}
TensorView with_strides(TensorView v, std::initializer_list<int64_t> strides) {
  std::copy(strides.begin(), strides.end(), v.strides);
  return v;
}
TensorView absent() {
  TensorView v;
  v.rank = -1;
  return v;
}

// What cuBLASLt would compute for the shape, in plain loops over column-major matrices.
std::vector<double> column_major_products(const MatmulShape& s, const std::vector<double>& lhs,
                                          const std::vector<double>& rhs, const std::vector<double>& bias,
                                          size_t out_size) {
  std::vector<double> out(out_size, -1);
  for (const auto& at : s.products) {
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t m = 0; m < s.m; ++m) {
        for (int64_t n = 0; n < s.n; ++n) {
          double sum = 0;
          for (int64_t k = 0; k < s.k; ++k) {
            const int64_t a = at.rhs + b * s.rhs.batch_stride +
                              (s.rhs.transposed ? n * s.rhs.leading + k : k * s.rhs.leading + n);
            const int64_t c = at.lhs + b * s.lhs.batch_stride +
                              (s.lhs.transposed ? k * s.lhs.leading + m : m * s.lhs.leading + k);
            sum += lhs[static_cast<size_t>(c)] * rhs[static_cast<size_t>(a)];
          }
          if (s.bias_kind == BiasKind::kRow) sum += bias[static_cast<size_t>(n)];
          if (s.bias_kind == BiasKind::kMatrix) {
            sum += bias[static_cast<size_t>(at.bias + b * s.bias.batch_stride + m * s.bias.leading + n)];
          }
          out[static_cast<size_t>(at.out + b * s.out.batch_stride + m * s.out.leading + n)] = sum;
        }
      }
    }
  }
  return out;
}

std::vector<double> plain_products(const TensorView& lhs_view, const TensorView& rhs_view,
                                   const TensorView& bias_view, const TensorView& out_view,
                                   const std::vector<double>& lhs, const std::vector<double>& rhs,
                                   const std::vector<double>& bias, size_t out_size) {
  std::vector<double> out(out_size, -1);
  const int m = out_view.rank - 2, n = out_view.rank - 1;
  int64_t index[kMaxRank] = {};
  for (int64_t left = element_count(out_view); left > 0; --left) {
    const auto offset = [&](const TensorView& v, int64_t row, int64_t column) {
      int64_t at = row * v.strides[m] + column * v.strides[n];
      for (int i = 0; i < m; ++i) at += index[i] * v.strides[i];
      return static_cast<size_t>(at);
    };
    double sum = bias_view.rank < 0 ? 0 : bias[offset(bias_view, index[m], index[n])];
    for (int64_t k = 0; k < lhs_view.dims[n]; ++k)
      sum += lhs[offset(lhs_view, index[m], k)] * rhs[offset(rhs_view, k, index[n])];
    out[offset(out_view, index[m], index[n])] = sum;
    for (int i = out_view.rank - 1; i >= 0 && ++index[i] == out_view.dims[i]; --i) index[i] = 0;
  }
  return out;
}

std::vector<double> numbers(size_t count, int step) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<double>((i * static_cast<size_t>(step)) % 13) - 6;
  return values;
}

}  // namespace

TEST_CASE("matmul_shape describes the same product as the views", "[runtime]") {
  struct Case {
    const char* name;
    TensorView lhs, rhs, bias, out;
    int64_t m, batch;
    size_t products;
    BiasKind bias_kind;
  };
  const TensorView x3 = dense({2, 5, 3}), y3 = dense({2, 5, 4});
  const Case cases[] = {
      {"plain", dense({5, 3}), dense({3, 4}), absent(), dense({5, 4}), 5, 1, 1, BiasKind::kNone},
      {"rhs transposed", dense({5, 3}), transposed(dense({4, 3})), absent(), dense({5, 4}), 5, 1, 1,
       BiasKind::kNone},
      {"lhs transposed", transposed(dense({3, 5})), dense({3, 4}), absent(), dense({5, 4}), 5, 1, 1,
       BiasKind::kNone},
      {"row bias", dense({5, 3}), dense({3, 4}), with_strides(dense({5, 4}), {0, 1}), dense({5, 4}), 5, 1, 1,
       BiasKind::kRow},
      {"residual", dense({5, 3}), dense({3, 4}), dense({5, 4}), dense({5, 4}), 5, 1, 1, BiasKind::kMatrix},
      {"batch folds into rows", x3, with_strides(dense({2, 3, 4}), {0, 4, 1}), with_strides(y3, {0, 0, 1}),
       y3, 10, 1, 1, BiasKind::kRow},
      {"residual folds too", x3, with_strides(dense({2, 3, 4}), {0, 4, 1}), y3, y3, 10, 1, 1,
       BiasKind::kMatrix},
      {"one row a batch folds", dense({6, 1, 3}), with_strides(dense({6, 3, 4}), {0, 4, 1}), absent(),
       dense({6, 1, 4}), 6, 1, 1, BiasKind::kNone},
      {"strided batch", x3, dense({2, 3, 4}), absent(), y3, 5, 2, 1, BiasKind::kNone},
      {"two even batch axes are one", dense({2, 3, 5, 3}), dense({2, 3, 3, 4}), absent(), dense({2, 3, 5, 4}),
       5, 6, 1, BiasKind::kNone},
      {"heads interleaved", with_strides(dense({2, 3, 5, 4}), {60, 4, 12, 1}),
       transposed(with_strides(dense({2, 3, 5, 4}), {60, 4, 12, 1})), absent(), dense({2, 3, 5, 5}), 5, 3, 2,
       BiasKind::kNone},
      {"a padded output", dense({5, 3}), dense({3, 4}), absent(), with_strides(dense({5, 4}), {9, 1}), 5, 1,
       1, BiasKind::kNone},
      {"single column", dense({5, 3}), dense({3, 1}), absent(), dense({5, 1}), 5, 1, 1, BiasKind::kNone},
      {"single row", dense({1, 3}), dense({3, 4}), absent(), dense({1, 4}), 1, 1, 1, BiasKind::kNone},
  };
  const std::vector<double> lhs = numbers(200, 5), rhs = numbers(200, 7), bias = numbers(200, 3);
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto shape = matmul_shape(c.lhs, c.rhs, c.bias, c.out);
    REQUIRE_OK(shape);
    CHECK(shape->m == c.m);
    CHECK(shape->batch == c.batch);
    CHECK(shape->products.size() == c.products);
    CHECK(shape->bias_kind == c.bias_kind);
    CHECK(column_major_products(*shape, lhs, rhs, bias, 200) ==
          plain_products(c.lhs, c.rhs, c.bias, c.out, lhs, rhs, bias, 200));
  }
}

TEST_CASE("a residual goes through C, with a row bias beside it", "[runtime]") {
  const TensorView row = with_strides(dense({5, 4}), {0, 1}), lhs = dense({5, 3}), rhs = dense({3, 4}),
                   out = dense({5, 4}), one = dense({1, 4});
  const TensorView residual = with_strides(dense({5, 4}), {6, 1});
  const std::vector<double> a = numbers(200, 5), b = numbers(200, 7), r = numbers(200, 3);
  for (const TensorView& bias : {absent(), row}) {
    const auto shape = matmul_shape(lhs, rhs, bias, out, &residual);
    REQUIRE_OK(shape);
    CHECK(shape->bias_kind == BiasKind::kMatrix);
    CHECK(shape->bias.leading == 6);
    CHECK(column_major_products(*shape, a, b, r, 200) ==
          plain_products(lhs, rhs, residual, out, a, b, r, 200));
  }
  // One row: its residual is a matrix of one row, not a bias.
  const auto single = matmul_shape(dense({1, 3}), rhs, one, one, &one);
  REQUIRE_OK(single);
  CHECK(single->bias_kind == BiasKind::kMatrix);
  REQUIRE_CODE(matmul_shape(lhs, rhs, out, out, &residual), Code::launch_refused);
  const TensorView none = absent();
  const auto plain = matmul_shape(lhs, rhs, row, out, &none);
  REQUIRE_OK(plain);
  CHECK(plain->bias_kind == BiasKind::kRow);
}

TEST_CASE("matmul_shape refuses what has no dense axis", "[runtime]") {
  REQUIRE_CODE(matmul_shape(with_strides(dense({5, 3}), {6, 2}), dense({3, 4}), absent(), dense({5, 4})),
               Code::launch_refused);
  REQUIRE_CODE(matmul_shape(dense({5, 3}), dense({3, 4}), absent(), transposed(dense({4, 5}))),
               Code::launch_refused);
  REQUIRE_CODE(matmul_shape(dense({5, 0}), dense({0, 4}), absent(), dense({5, 4})), Code::launch_refused);
}

TEST_CASE("scratch memory is a thread's own, aligned, and kept between launches", "[runtime]") {
  ThreadPool pool(4);
  cpu::Scratch scratch(pool);
  const auto piece = [](void* closure, int64_t begin, int64_t end) {
    auto* self = static_cast<cpu::Scratch*>(closure);
    for (int64_t i = begin; i < end; ++i) {
      std::byte* a = cpu::Scratch::scratch(self, 1000);
      std::byte* b = cpu::Scratch::scratch(self, 3000);
      if (reinterpret_cast<uintptr_t>(a) % 64 != 0 || reinterpret_cast<uintptr_t>(b) % 64 != 0) std::abort();
      std::memset(a, static_cast<int>(i), 1000);
      std::memset(b, static_cast<int>(i + 1), 3000);
      for (int k = 0; k < 1000; ++k) {
        if (a[k] != static_cast<std::byte>(i)) std::abort();
      }
    }
  };
  for (int round = 0; round < 3; ++round) cpu::Scratch::parallel(&scratch, 200, 1, piece, &scratch);
  cpu::BumpRange range;
  const auto mark = range.mark();
  std::byte* first = range.take(100);
  REQUIRE(range.take(100) == first + 128);
  std::byte* large = range.take(10 << 20);
  REQUIRE(large != nullptr);
  range.release(mark);
  REQUIRE(range.take(100) == first);
}

TEST_CASE("the launch table knows rows by name and revision", "[runtime]") {
  LaunchTable table;
  const LaunchTableEntry* entry = table.find("dot_reference", 1);
  REQUIRE(entry != nullptr);
  REQUIRE(entry->cpu != nullptr);
  REQUIRE(entry->desc.name == "dot_reference");
  REQUIRE(table.find("dot_reference", 1) == entry);
  REQUIRE(table.find("dot_reference", 2) == nullptr);
  REQUIRE(table.find("dot", 1) == nullptr);
}
