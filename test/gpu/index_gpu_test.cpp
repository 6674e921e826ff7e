// CUDA rows that move elements by index, or put them in order, against their references.
#include "gpu_harness.h"

namespace ge::test {

TEST_CASE("CUDA gather equals gather_reference and notes what is out of range") {
  NEED_GPU(gpu);
  std::mt19937 rng(35);
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::int8, DType::boolean}) {
    for (const DType index_type : {DType::int64, DType::int32}) {
      for (int64_t axis = 0; axis < 3; ++axis) {
        for (size_t l = 0; l < 5; ++l) {
          const std::vector<int64_t> dims = {3, 4,
                                             index_type == DType::int32 ? 32 : 5};  // 32: 16 bytes at once
          std::vector<int64_t> out_dims = dims;
          out_dims[static_cast<size_t>(axis)] = 2;
          out_dims.insert(out_dims.begin() + axis, 2);
          TestTensor data(dtype, dims, kLayouts[l], 1), at(index_type, {2, 2}, kLayouts[(l + 2) % 5]),
              out(dtype, out_dims, kOutLayouts[l % 4]);
          data.random(rng);
          const int64_t extent = dims[static_cast<size_t>(axis)];
          for (int64_t i = 0; i < at.count(); ++i)
            at.set_int(i, static_cast<int64_t>(rng() % static_cast<uint64_t>(2 * extent)) - extent);
          compare(*gpu, "gather_elements_sm80", "gather_reference", {&data, &at, &out}, {{"axis", axis}},
                  kGrids[l % 3], 0, 0);
        }
      }
    }
  }
  TestTensor data(DType::float32, {3}), at(DType::int64, {3}), out(DType::float32, {3});
  for (int64_t i = 0; i < 3; ++i) data.set(i, static_cast<double>(10 + i));
  at.set_int(0, 1), at.set_int(1, 7), at.set_int(2, 0);
  FaultRecord fault;
  REQUIRE_OK(gpu->run("gather_elements_sm80", {&data, &at, &out}, {{"axis", int64_t{0}}}, 4, &fault));
  REQUIRE((fault.kind == static_cast<uint32_t>(FaultKind::kIndexOutOfRange) && fault.value == 7 &&
           fault.launch == 7));
  REQUIRE((out.at(0) == 11 && out.at(1) == 12 && out.at(2) == 10));
}

TEST_CASE("CUDA gather of dense rows gives the reference's bits") {
  NEED_GPU(gpu);
  std::mt19937 rng(36);
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int8,
                            DType::uint64, DType::boolean}) {
    const int64_t unit = 16 / (bits_of(dtype) / 8);  // elements of 16 bytes
    for (const DType index_type : {DType::int64, DType::int32}) {
      size_t l = 0;
      for (const std::vector<int64_t>& places :
           {std::vector<int64_t>{}, {1}, {7}, {3, 5}, {2, 1, 300}, {0}}) {
        for (const std::vector<int64_t>& data_dims :
             {std::vector<int64_t>{1, unit}, {5, 3 * unit}, {9, 2, unit}, {33, 7, 16}, {4, 0}}) {
          std::vector<int64_t> out_dims = places;
          out_dims.insert(out_dims.end(), data_dims.begin() + 1, data_dims.end());
          TestTensor data(dtype, data_dims, Layout::kDense, 1), at(index_type, places, Layout::kDense),
              out(dtype, out_dims, Layout::kDense);
          data.random(rng);
          const int64_t extent = data_dims[0];
          for (int64_t i = 0; i < at.count(); ++i)
            at.set_int(i, static_cast<int64_t>(rng() % static_cast<uint64_t>(2 * extent)) - extent);
          INFO(name_of(dtype) << " " << at.count() << " of " << extent << " rows");
          compare(*gpu, "gather_rows_sm80", "gather_reference", {&data, &at, &out}, {{"axis", int64_t{0}}},
                  kGrids[l++ % 3], 0, 0);
        }
      }
    }
  }
  TestTensor data(DType::float16, {3, 8}), at(DType::int32, {3}), out(DType::float16, {3, 8});
  data.random(rng);
  at.set_int(0, 1), at.set_int(1, -7), at.set_int(2, 3);
  FaultRecord fault;
  REQUIRE_OK(gpu->run("gather_rows_sm80", {&data, &at, &out}, {{"axis", int64_t{0}}}, 1, &fault));
  REQUIRE((fault.kind == static_cast<uint32_t>(FaultKind::kIndexOutOfRange) && fault.launch == 7));
  REQUIRE((fault.value == -7 || fault.value == 3));
  for (int64_t i = 0; i < 8; ++i)
    REQUIRE(
        (out.at(i) == data.at(8 + i) && out.at(8 + i) == data.at(i) && out.at(16 + i) == data.at(16 + i)));
}

TEST_CASE("CUDA gather with an index for each element, and scatter, give the reference's bits") {
  NEED_GPU(gpu);
  std::mt19937 rng(41);
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int8,
                            DType::uint64, DType::boolean}) {
    for (int64_t axis = 0; axis < 3; ++axis) {
      for (size_t l = 0; l < 5; ++l) {
        const std::vector<int64_t> dims = {5, 4, 3};
        std::vector<int64_t> few = {2, 3, 2}, rows = dims;
        few[static_cast<size_t>(axis)] = 9;
        rows[static_cast<size_t>(axis)] = 7;
        const DType index_type = l % 2 == 0 ? DType::int64 : DType::int32;
        TestTensor data(dtype, dims, kLayouts[l], 1), at(index_type, few, kLayouts[(l + 2) % 4]),
            picked(dtype, few, kOutLayouts[l % 4]), put(dtype, few, kLayouts[(l + 1) % 5], 2),
            which(index_type, {7}, kLayouts[l % 4]), slices(dtype, rows, kLayouts[(l + 3) % 5], 1),
            out(dtype, dims, kOutLayouts[(l + 1) % 4]);
        data.random(rng), put.random(rng), slices.random(rng);
        const int64_t extent = dims[static_cast<size_t>(axis)];
        for (TestTensor* t : {&at, &which})
          for (int64_t i = 0; i < t->count(); ++i)
            t->set_int(i, static_cast<int64_t>(rng() % static_cast<uint64_t>(2 * extent)) - extent);
        const Attrs each = {{"axis", axis}, {"elements", int64_t{1}}};
        compare(*gpu, "gather_elements_sm80", "gather_reference", {&data, &at, &picked}, each, kGrids[l % 3],
                0, 0);
        for (int64_t kind = 0; kind < 5; ++kind) {
          INFO(name_of(dtype) << " axis " << axis << " kind " << kind);
          compare(*gpu, "scatter_owned_sm80", "scatter_reference", {&data, &at, &put, &out},
                  {{"axis", axis}, {"elements", int64_t{1}}, {"kind", kind}}, kGrids[l % 3], 0, 0);
          compare(*gpu, "scatter_owned_sm80", "scatter_reference", {&data, &which, &slices, &out},
                  {{"axis", axis}, {"kind", kind}}, kGrids[(l + 1) % 3], 0, 0);
        }
      }
    }
  }
  TestTensor data(DType::float32, {3}), at(DType::int64, {2}), put(DType::float32, {2}),
      out(DType::float32, {3});
  data.random(rng), put.random(rng);
  at.set_int(0, 1), at.set_int(1, -9);
  FaultRecord fault;
  REQUIRE_OK(gpu->run("scatter_owned_sm80", {&data, &at, &put, &out}, {{"axis", int64_t{0}}}, 4, &fault));
  REQUIRE((fault.kind == static_cast<uint32_t>(FaultKind::kIndexOutOfRange) && fault.value == -9));
  REQUIRE((out.at(0) == put.at(1) && out.at(1) == put.at(0) && out.at(2) == data.at(2)));
}

TEST_CASE("CUDA scan and sort_topk equal their references") {
  NEED_GPU(gpu);
  std::mt19937 rng(42);
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::int64,
                            DType::int8, DType::uint64, DType::uint16}) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{1}, {0, 3}, {3, 40}, {2, 700}, {5, 3, 33}}) {
      for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) {
        for (size_t l = 0; l < 4; ++l) {
          TestTensor in(dtype, dims, kLayouts[l], 1), out(dtype, dims, kOutLayouts[(l + 1) % 4]);
          in.random(rng);
          INFO(name_of(dtype) << " axis " << axis << " layout " << l);
          compare(*gpu, "scan_warp_sm80", "scan_reference", {&in, &out},
                  {{"axis", axis}, {"exclusive", int64_t(l / 2)}, {"reverse", int64_t(l % 2)}}, kGrids[l % 3],
                  1, 0.1);
          const int64_t extent = dims[static_cast<size_t>(axis)];
          for (const int64_t k : {(extent + 1) / 2, extent}) {
            std::vector<int64_t> kept = dims;
            kept[static_cast<size_t>(axis)] = k;
            TestTensor best(DType::int64, kept, kOutLayouts[l]);
            compare(*gpu, "sort_topk_radix_sm80", "sort_topk_reference", {&in, &best},
                    {{"axis", axis}, {"largest", int64_t(l % 2)}}, kGrids[l % 3], 0, 0);
          }
        }
      }
    }
  }
}

TEST_CASE("CUDA casts of 4-bit integers equal cast_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(45);
  const std::pair<DType, DType> kPairs[] = {{DType::int4, DType::int8},   {DType::int8, DType::int4},
                                            {DType::int4, DType::int4},   {DType::uint4, DType::uint8},
                                            {DType::uint8, DType::uint4}, {DType::uint4, DType::uint4}};
  const Layout kForward[] = {Layout::kDense, Layout::kTransposed, Layout::kGapped, Layout::kBroadcast};
  for (const auto& [from, to] : kPairs) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {1}, {0}, {7}, {3, 5}, {0, 3}, {2, 300, 9}}) {
      for (size_t l = 0; l < 4; ++l) {
        const bool packs = bits_of(to) < 8;  // a byte of out holds two elements: dense alone
        TestTensor in(from, dims, kForward[l], 1), out(to, dims, packs ? Layout::kDense : kOutLayouts[l]);
        in.random(rng, class_of(from) == DTypeClass::kSigned ? 7 : 15);
        INFO(name_of(from) << " to " << name_of(to) << " layout " << l);
        compare(*gpu, "cast_nibbles_sm80", "cast_reference", {&in, &out}, {}, kGrids[l % 3], 0, 0);
      }
    }
  }
}

TEST_CASE("CUDA extents as numbers equal shape_reference") {
  NEED_GPU(gpu);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{5}, {0, 3}, {2, 1, 4, 7, 3, 2, 1, 6}}) {
    for (size_t l = 0; l < 4; ++l) {
      TestTensor like(DType::int8, dims, kLayouts[l], 1);
      TestTensor out(DType::int64, {static_cast<int64_t>(dims.size())}, kOutLayouts[(l + 1) % 4]);
      compare(*gpu, "shape_values_sm80", "shape_reference", {&like, &out}, {}, kGrids[l % 3], 0, 0);
    }
  }
}

}  // namespace ge::test
