// map, cast, copy and iota rows against plain loops over every dtype and layout.
#include <cmath>

#include "contract/scalar_op.h"
#include "kernels_harness.h"

namespace ge::test {
namespace {

constexpr DType kTypes[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64,
                            DType::int32,   DType::int16,   DType::int8,    DType::uint64,   DType::uint32,
                            DType::uint16,  DType::uint8,   DType::boolean};
const std::vector<std::vector<int64_t>> kShapes = {{},     {0},       {1},          {7},
                                                   {3, 5}, {2, 0, 3}, {2, 3, 1, 5}, {1, 2, 1, 2, 3, 1, 2, 1}};

Attrs op(ScalarOp code) {
  return {{"op", int64_t{static_cast<uint16_t>(code)}}};
}

}  // namespace

TEST_CASE("map_reference adds, compares and selects in every dtype and layout") {
  std::mt19937 rng(1);
  for (DType dtype : kTypes) {
    for (const auto& dims : kShapes) {
      for (size_t l = 0; l < 5; ++l) {
        INFO(name_of(dtype) << " " << layout_name(kLayouts[l]) << " rank " << dims.size());
        TestTensor a(dtype, dims, kLayouts[l]), b(dtype, dims, kLayouts[(l + 1) % 5]),
            out(dtype, dims, kOutLayouts[l % 4]);
        TestTensor flag(DType::boolean, dims, kOutLayouts[(l + 1) % 4]),
            condition(DType::boolean, dims, kLayouts[(l + 2) % 5]);
        a.random(rng), b.random(rng), condition.random(rng);
        if (!is_bool(dtype)) {
          REQUIRE_OK(
              run_kernel("map_reference", {a.view(), b.view(), absent(), out.view()}, op(ScalarOp::add)));
          for (int64_t i = 0; i < out.count(); ++i) REQUIRE(out.at(i) == rounded(dtype, a.at(i) + b.at(i)));
        }
        REQUIRE_OK(
            run_kernel("map_reference", {a.view(), b.view(), absent(), flag.view()}, op(ScalarOp::equal)));
        for (int64_t i = 0; i < out.count(); ++i) REQUIRE(flag.at(i) == (a.at(i) == b.at(i) ? 1 : 0));
        REQUIRE_OK(run_kernel("map_reference", {condition.view(), a.view(), b.view(), out.view()},
                              op(ScalarOp::select)));
        for (int64_t i = 0; i < out.count(); ++i)
          REQUIRE(out.at(i) == (condition.at(i) != 0 ? a.at(i) : b.at(i)));
        REQUIRE((out.guards_stand() && flag.guards_stand()));
      }
    }
  }
}

TEST_CASE("map_reference runs every real op once rounded") {
  std::mt19937 rng(2);
  for (DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    TestTensor a(dtype, {9}), out(dtype, {9});
    a.random(rng);
    REQUIRE_OK(run_kernel("map_reference", {a.view(), absent(), absent(), out.view()}, op(ScalarOp::exp)));
    for (int64_t i = 0; i < 9; ++i) REQUIRE(near(dtype, out.at(i), std::exp(a.at(i))));
    REQUIRE_OK(run_kernel("map_reference", {a.view(), absent(), absent(), out.view()}, op(ScalarOp::gelu)));
    for (int64_t i = 0; i < 9; ++i) {
      REQUIRE(near(dtype, out.at(i), 0.5 * a.at(i) * (1 + std::erf(a.at(i) / std::sqrt(2.0))), 1,
                   dtype == DType::float64 ? 4 : 0.1));
    }
  }
}

TEST_CASE("map_reference refuses what does not fit") {
  TestTensor a(DType::float32, {2}), b(DType::float32, {3}), c(DType::int32, {2}), out(DType::float32, {2});
  REQUIRE_CODE(run_kernel("map_reference", {a.view(), b.view(), absent(), out.view()}, op(ScalarOp::add)),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("map_reference", {a.view(), c.view(), absent(), out.view()}, op(ScalarOp::add)),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("map_reference", {a.view(), absent(), absent(), out.view()}, op(ScalarOp::add)),
               Code::launch_refused);
  REQUIRE_CODE(run_kernel("map_reference", {a.view(), a.view(), absent(), out.view()}, op(ScalarOp::equal)),
               Code::launch_refused);
  REQUIRE_CODE(
      run_kernel("map_reference", {a.view(), absent(), absent(), out.view()}, {{"op", int64_t{255}}}),
      Code::launch_refused);
  TestTensor folded(DType::float32, {2}, Layout::kBroadcast);
  REQUIRE_CODE(run_kernel("map_reference", {a.view(), a.view(), absent(), folded.view()}, op(ScalarOp::add)),
               Code::launch_refused);
}

TEST_CASE("cast_reference converts between every pair of dtypes by the rules") {
  std::mt19937 rng(3);
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      for (size_t l = 0; l < 5; ++l) {
        TestTensor in(from, {3, 5}, kLayouts[l]), out(to, {3, 5}, kOutLayouts[l % 4]);
        in.random(rng);
        REQUIRE_OK(run_kernel("cast_reference", {in.view(), out.view()}, {}));
        for (int64_t i = 0; i < out.count(); ++i) {
          INFO(name_of(from) << " to " << name_of(to) << " value " << in.at(i));
          const bool wraps = !is_float(from) && is_integer(to);
          if (wraps) {
            alignas(8) unsigned char bytes[8] = {};
            store_from_int64(to, bytes, 0, in.int_at(i));
            REQUIRE(out.int_at(i) == load_as_int64(to, bytes, 0));
          } else {
            REQUIRE(out.at(i) == rounded(to, in.at(i)));
          }
        }
        REQUIRE(out.guards_stand());
      }
    }
  }
}

TEST_CASE("cast_reference saturates, sends NaN to 0 and any nonzero to true") {
  TestTensor in(DType::float32, {5}), out(DType::int8, {5}), flag(DType::boolean, {5});
  const double values[] = {1e9, -1e9, NAN, -1.9, 0.25};
  for (int64_t i = 0; i < 5; ++i) in.set(i, values[i]);
  REQUIRE_OK(run_kernel("cast_reference", {in.view(), out.view()}, {}));
  const int64_t expected[] = {127, -128, 0, -1, 0};
  for (int64_t i = 0; i < 5; ++i) REQUIRE(out.int_at(i) == expected[i]);
  REQUIRE_OK(run_kernel("cast_reference", {in.view(), flag.view()}, {}));
  for (int64_t i = 0; i < 5; ++i) REQUIRE(flag.int_at(i) == 1);
}

TEST_CASE("cast_reference unpacks dense 4-bit elements") {
  unsigned char packed[2] = {0x81, 0x7f};  // 1, -8, -1, 7
  TensorView in;
  in.data = packed, in.rank = 1, in.dims[0] = 4, in.strides[0] = 1, in.dtype = DType::int4;
  TestTensor out(DType::float32, {4}, Layout::kReversed);
  REQUIRE_OK(run_kernel("cast_reference", {in, out.view()}, {}));
  REQUIRE((out.at(0) == 1 && out.at(1) == -8 && out.at(2) == -1 && out.at(3) == 7));
  in.dims[0] = 2, in.strides[0] = 2;
  TestTensor part(DType::int8, {2}, Layout::kDense);
  REQUIRE_OK(run_kernel("cast_reference", {in, part.view()}, {}));
  REQUIRE((part.int_at(0) == 1 && part.int_at(1) == -1));
}

TEST_CASE("cast_reference packs 4-bit elements: floats saturate, integers wrap, half a byte is left 0") {
  unsigned char packed[3] = {0xee, 0xee, 0xee};
  TensorView out;
  out.data = packed, out.rank = 1, out.dims[0] = 5, out.strides[0] = 1, out.dtype = DType::int4;
  TestTensor in(DType::float32, {5}, Layout::kReversed);
  const double values[] = {-1, -100, 7.9, std::numeric_limits<double>::quiet_NaN(), 3};
  for (int64_t i = 0; i < 5; ++i) in.set(i, values[i]);
  REQUIRE_OK(run_kernel("cast_reference", {in.view(), out}, {}));
  REQUIRE((packed[0] == 0x8f && packed[1] == 0x07 && packed[2] == 0x03));
  TestTensor wide(DType::int32, {5}, Layout::kDense);
  for (int64_t i = 0; i < 5; ++i) wide.set(i, static_cast<double>(15 + i));
  out.dtype = DType::uint4;
  REQUIRE_OK(run_kernel("cast_reference", {wide.view(), out}, {}));
  REQUIRE((packed[0] == 0x0f && packed[1] == 0x21 && packed[2] == 0x03));
  out.strides[0] = 2;
  REQUIRE_CODE(run_kernel("cast_reference", {wide.view(), out}, {}), Code::launch_refused);
}

TEST_CASE("cast_reference takes 4-bit elements of any layout to bytes and back") {
  std::mt19937 rng(6);
  for (const auto& dims : std::vector<std::vector<int64_t>>{{}, {1}, {0}, {7}, {3, 5}, {0, 3}, {2, 30, 9}}) {
    for (const Layout layout : {Layout::kDense, Layout::kTransposed, Layout::kGapped, Layout::kBroadcast}) {
      for (const auto& [small, wide] : {std::pair{DType::int4, DType::int8}, {DType::uint4, DType::uint8}}) {
        TestTensor in(small, dims, layout, 1), bytes(wide, dims, Layout::kReversed), back(small, dims);
        in.random(rng, small == DType::int4 ? 7 : 15);
        REQUIRE_OK(run_kernel("cast_reference", {in.view(), bytes.view()}, {}));
        REQUIRE_OK(run_kernel("cast_reference", {bytes.view(), back.view()}, {}));
        for (int64_t i = 0; i < in.count(); ++i) {
          REQUIRE(bytes.int_at(i) == in.int_at(i));
          REQUIRE(back.int_at(i) == in.int_at(i));
        }
        REQUIRE((in.guards_stand() && bytes.guards_stand() && back.guards_stand()));
      }
    }
  }
}

TEST_CASE("copy rows move every layout to every layout") {
  std::mt19937 rng(4);
  auto shapes = kShapes;
  shapes.push_back({70, 45});
  shapes.push_back({2, 33, 40, 3});
  for (const char* name : {"copy_reference", "copy_strided_cpu"}) {
    for (DType dtype : {DType::float64, DType::float32, DType::float16, DType::int8, DType::boolean}) {
      for (const auto& dims : shapes) {
        for (Layout from : kLayouts) {
          for (Layout to : kOutLayouts) {
            TestTensor in(dtype, dims, from, 0b0101), out(dtype, dims, to);
            in.random(rng);
            REQUIRE_OK(run_kernel(name, {in.view(), out.view()}, {}, {.threads = 2}));
            bool same = true;
            for (int64_t i = 0; i < out.count(); ++i) same = same && out.at(i) == in.at(i);
            INFO(name << " " << name_of(dtype) << " " << layout_name(from) << " to " << layout_name(to)
                      << " rank " << dims.size());
            REQUIRE(same);
            REQUIRE(out.guards_stand());
          }
        }
      }
    }
  }
}

TEST_CASE("iota_reference counts along one axis and wraps") {
  for (DType dtype : {DType::int64, DType::int32, DType::uint8, DType::float32, DType::float16}) {
    for (Layout layout : kOutLayouts) {
      TestTensor out(dtype, {3, 4, 5}, layout);
      REQUIRE_OK(run_kernel("iota_reference", {out.view()},
                            {{"axis", int64_t{1}}, {"start", int64_t{2}}, {"step", int64_t{3}}}));
      for (int64_t i = 0; i < out.count(); ++i) REQUIRE(out.at(i) == 2 + 3 * (i / 5 % 4));
      REQUIRE(out.guards_stand());
    }
  }
  TestTensor out(DType::uint8, {300});
  REQUIRE_OK(run_kernel("iota_reference", {out.view()}, {{"axis", int64_t{0}}}));
  REQUIRE((out.int_at(255) == 255 && out.int_at(256) == 0 && out.int_at(299) == 43));
  REQUIRE_CODE(run_kernel("iota_reference", {out.view()}, {{"axis", int64_t{1}}}), Code::launch_refused);
}

}  // namespace ge::test
