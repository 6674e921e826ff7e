// gather, pad and shape rows.
#include <cmath>

#include "kernels_harness.h"

namespace ge::test {
namespace {

std::vector<int64_t> gathered(const std::vector<int64_t>& data, const std::vector<int64_t>& indices,
                              size_t axis) {
  std::vector<int64_t> out(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  return out;
}

}  // namespace

TEST_CASE("gather rows pick along any axis in every element size and layout") {
  std::mt19937 rng(11);
  for (const char* name : {"gather_reference", "gather_copy_cpu"}) {
    for (DType dtype : {DType::float64, DType::float32, DType::float16, DType::int8, DType::boolean}) {
      for (DType index_type : {DType::int64, DType::int32}) {
        for (const auto& indices : std::vector<std::vector<int64_t>>{{}, {3}, {2, 2}, {0}}) {
          for (size_t axis = 0; axis < 3; ++axis) {
            for (size_t l = 0; l < 5; ++l) {
              const std::vector<int64_t> dims = {3, 4, 5};
              TestTensor data(dtype, dims, kLayouts[l], 1), at(index_type, indices, kLayouts[(l + 2) % 5]);
              TestTensor out(dtype, gathered(dims, indices, axis), kOutLayouts[l % 4]);
              data.random(rng);
              for (int64_t i = 0; i < at.count(); ++i)
                at.set_int(i, static_cast<int64_t>(rng() % (2 * dims[axis])) - dims[axis]);
              FaultRecord fault;
              REQUIRE_OK(run_kernel(name, {data.view(), at.view(), out.view()},
                                    {{"axis", static_cast<int64_t>(axis)}}, {.threads = 2, .fault = &fault}));
              REQUIRE(fault.kind == 0);
              for (int64_t i = 0; i < out.count(); ++i) {
                const auto index = index_of(out.view(), i);
                std::vector<int64_t> from(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis));
                const std::vector<int64_t> q(
                    index.begin() + static_cast<std::ptrdiff_t>(axis),
                    index.begin() + static_cast<std::ptrdiff_t>(axis + indices.size()));
                const int64_t position = at.int_at(linear_of(at.view(), q));
                from.push_back(position < 0 ? position + dims[axis] : position);
                from.insert(from.end(), index.begin() + static_cast<std::ptrdiff_t>(axis + indices.size()),
                            index.end());
                REQUIRE(out.at(i) == data.at(linear_of(data.view(), from)));
              }
              REQUIRE(out.guards_stand());
            }
          }
        }
      }
    }
  }
}

TEST_CASE("gather clamps and notes an index out of range") {
  for (const char* name : {"gather_reference", "gather_copy_cpu"}) {
    TestTensor data(DType::float32, {3}), at(DType::int64, {3}), out(DType::float32, {3});
    for (int64_t i = 0; i < 3; ++i) data.set(i, static_cast<double>(10 + i));
    at.set_int(0, 1), at.set_int(1, 7), at.set_int(2, 0);
    FaultRecord fault;
    REQUIRE_OK(
        run_kernel(name, {data.view(), at.view(), out.view()}, {{"axis", int64_t{0}}}, {.fault = &fault}));
    REQUIRE((fault.kind == static_cast<uint32_t>(FaultKind::kIndexOutOfRange) && fault.value == 7));
    REQUIRE((out.at(0) == 11 && out.at(1) == 12 && out.at(2) == 10));
    TestTensor none(DType::float32, {0});
    fault = {};
    REQUIRE_OK(
        run_kernel(name, {none.view(), at.view(), out.view()}, {{"axis", int64_t{0}}}, {.fault = &fault}));
    REQUIRE((fault.kind == 1 && out.at(0) == 0 && out.at(2) == 0));
    REQUIRE_CODE(run_kernel(name, {data.view(), at.view(), out.view()}, {{"axis", int64_t{1}}}),
                 Code::launch_refused);
  }
}

TEST_CASE("pad_reference: constant, reflect, edge and crops") {
  std::mt19937 rng(12);
  for (DType dtype : {DType::float32, DType::int8, DType::int64, DType::float16}) {
    for (int64_t mode = 0; mode < 3; ++mode) {
      for (size_t l = 0; l < 5; ++l) {
        TestTensor in(dtype, {4, 5}, kLayouts[l], 1), value(dtype, {}),
            out(dtype, {6, 7}, kOutLayouts[l % 4]);
        in.random(rng), value.fill(3);
        const std::vector<int64_t> begin = {1, -1};
        const bool valued = l % 2 == 0;
        REQUIRE_OK(run_kernel("pad_reference", {in.view(), valued ? value.view() : absent(), out.view()},
                              {{"mode", mode}, {"pads_begin", begin}}));
        for (int64_t i = 0; i < out.count(); ++i) {
          int64_t r = i / 7 - 1, c = i % 7 + 1;
          const bool inside = r >= 0 && r < 4 && c >= 0 && c < 5;
          if (mode == 1) r = r < 0 ? -r : r > 3 ? 6 - r : r, c = c > 4 ? 8 - c : c;
          if (mode == 2) r = std::clamp<int64_t>(r, 0, 3), c = std::clamp<int64_t>(c, 0, 4);
          REQUIRE(out.at(i) == (inside || mode != 0 ? in.at(r * 5 + c) : valued ? 3 : 0));
        }
        REQUIRE(out.guards_stand());
      }
    }
  }
  TestTensor empty(DType::float32, {0}), out(DType::float32, {2});
  REQUIRE_CODE(run_kernel("pad_reference", {empty.view(), absent(), out.view()},
                          {{"mode", int64_t{2}}, {"pads_begin", std::vector<int64_t>{1}}}),
               Code::launch_refused);
}

TEST_CASE("shape rows write the extents of a view that they do not read") {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{5}, {0, 3}, {2, 1, 4, 7, 3, 2, 1, 6}}) {
    for (const Layout layout : kOutLayouts) {
      TestTensor like(DType::int8, dims, Layout::kTransposed);
      like.view().data = nullptr;
      TestTensor out(DType::int64, {static_cast<int64_t>(dims.size())}, layout);
      REQUIRE_OK(run_kernel("shape_reference", {like.view(), out.view()}, {}));
      for (size_t i = 0; i < dims.size(); ++i) REQUIRE(out.int_at(static_cast<int64_t>(i)) == dims[i]);
      REQUIRE(out.guards_stand());
    }
  }
  TestTensor like(DType::int8, {2, 3}), out(DType::int64, {3});
  const Status status = run_kernel("shape_reference", {like.view(), out.view()}, {});
  REQUIRE_CODE(status, Code::launch_refused);
  REQUIRE(status.error().to_string().find("one number an axis of like") != std::string::npos);
}

}  // namespace ge::test
