// CUDA rows of convolutions, pools, copies and pads against their references.
#include "contract/scalar_op.h"
#include "gpu_harness.h"

namespace ge::test {
namespace {

struct ConvCase {
  std::vector<int64_t> x, w, y, strides, dilations, pads;
  int64_t groups;
};

Attrs attrs_of(const ConvCase& c) {
  return {{"dilations", c.dilations}, {"groups", c.groups}, {"pads_begin", c.pads}, {"strides", c.strides}};
}

}  // namespace

TEST_CASE("CUDA conv rows equal conv_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(32);
  const ConvCase cases[] = {
      {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1}, {1}, {0}, 1},
      {{2, 3, 9}, {4, 3, 3}, {2, 4, 9}, {1}, {1}, {1}, 1},
      {{1, 4, 6, 5}, {6, 2, 3, 2}, {1, 6, 3, 5}, {2, 1}, {1, 1}, {1, 0}, 2},
      {{2, 3, 7, 7}, {3, 1, 3, 3}, {2, 3, 7, 7}, {1, 1}, {1, 1}, {1, 1}, 3},
      {{1, 2, 9, 8}, {70, 2, 3, 3}, {1, 70, 5, 4}, {1, 1}, {2, 2}, {0, 0}, 1},
      {{1, 64, 14, 14}, {96, 64, 1, 1}, {1, 96, 7, 7}, {2, 2}, {1, 1}, {0, 0}, 1},
      {{2, 24, 20, 22}, {40, 12, 3, 3}, {2, 40, 20, 22}, {1, 1}, {1, 1}, {1, 1}, 2},
      {{0, 2, 4, 4}, {2, 2, 3, 3}, {0, 2, 4, 4}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 0, 4, 4}, {2, 0, 3, 3}, {1, 2, 4, 4}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 2, 3, 4, 5}, {2, 2, 2, 2, 2}, {1, 2, 2, 3, 4}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 1},
  };
  struct Row {
    const char* name;
    std::vector<DType> types;
    bool narrow, spatial3;
  };
  const Row rows[] = {{"conv_implicit_gemm_f16_sm80", {DType::float16}, false, false},
                      {"conv_implicit_gemm_bf16_sm80", {DType::bfloat16}, false, false},
                      {"conv_direct_f32_sm80", {DType::float32}, false, false},
                      {"conv_windows_sm80", {DType::float32, DType::float16, DType::bfloat16}, true, false},
                      {"conv_generic_sm80",
                       {DType::float64, DType::float32, DType::float16, DType::int32, DType::int8},
                       true,
                       true}};
  for (const Row& row : rows) {
    for (const DType dtype : row.types) {
      for (const ConvCase& c : cases) {
        if ((c.x.size() > 4 && !row.spatial3) || (c.groups > 1 && c.y[1] / c.groups < 8 && !row.narrow))
          continue;
        for (size_t l = 0; l < 5; ++l) {
          TestTensor x(dtype, c.x, kLayouts[l], 1), w(dtype, c.w, kLayouts[l < 2 ? 0 : (l + 1) % 5], 1),
              bias(dtype, {c.y[1]}, kLayouts[l]);
          TestTensor y(dtype, c.y, kOutLayouts[l % 4]);
          TestTensor residual(dtype, c.y, kLayouts[(l + 2) % 5], 1);
          x.random(rng, 3), w.random(rng, 3), bias.random(rng), residual.random(rng);
          Attrs attrs = attrs_of(c);
          if (is_float(dtype) && l == 1) {
            attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::leaky_relu)});
            attrs.emplace_back("activation_alpha", 0.25);
          }
          INFO(row.name << " " << name_of(dtype) << " " << layout_name(kLayouts[l]) << " channels " << c.x[1]
                        << " rank " << c.x.size());
          compare(*gpu, row.name, "conv_reference", {&x, &w, l % 2 == 0 ? &bias : nullptr, &y}, attrs,
                  kGrids[l % 3], 4, 0.1, l > 1 ? &residual : nullptr);
        }
      }
    }
  }
}

TEST_CASE("CUDA conv_nhwc rows equal conv_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(34);
  const ConvCase cases[] = {
      {{1, 8, 1, 1}, {1, 8, 1, 1}, {1, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0}, 1},
      {{2, 16, 9}, {24, 16, 3}, {2, 24, 9}, {1}, {1}, {1}, 1},
      {{1, 8, 5, 6}, {7, 8, 3, 2}, {1, 7, 5, 7}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{2, 24, 9, 8}, {70, 24, 3, 3}, {2, 70, 5, 4}, {1, 1}, {2, 2}, {0, 0}, 1},
      {{1, 40, 14, 13}, {96, 40, 1, 1}, {1, 96, 7, 7}, {2, 2}, {1, 1}, {0, 0}, 1},
      {{2, 48, 20, 22}, {40, 24, 3, 3}, {2, 40, 20, 22}, {1, 1}, {1, 1}, {1, 1}, 2},
      {{0, 8, 4, 4}, {8, 8, 3, 3}, {0, 8, 4, 4}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 0, 4, 4}, {8, 0, 3, 3}, {1, 8, 4, 4}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 64, 7, 7}, {33, 64, 3, 3}, {1, 33, 7, 7}, {1, 1}, {1, 1}, {1, 1}, 1},    // four parts, one empty
      {{1, 256, 7, 7}, {64, 256, 3, 3}, {1, 64, 7, 7}, {1, 1}, {1, 1}, {1, 1}, 1},  // four parts
      {{1, 64, 28, 28}, {128, 64, 3, 3}, {1, 128, 28, 28}, {1, 1}, {1, 1}, {1, 1}, 1},    // two
      {{1, 16, 70, 70}, {40, 16, 3, 3}, {1, 40, 70, 70}, {1, 1}, {1, 1}, {1, 1}, 1},      // one
      {{1, 8, 90, 90}, {24, 8, 3, 3}, {1, 24, 90, 90}, {1, 1}, {1, 1}, {1, 1}, 1},        // 64 x 64
      {{1, 8, 180, 175}, {40, 8, 2, 3}, {1, 40, 181, 175}, {1, 1}, {1, 1}, {1, 1}, 1},    // 128 x 64
      {{2, 16, 100, 90}, {130, 16, 1, 1}, {2, 130, 100, 90}, {1, 1}, {1, 1}, {0, 0}, 1},  // 128 x 128
  };
  for (const auto& [name, dtype] :
       {std::pair("conv_nhwc_f16_sm80", DType::float16), std::pair("conv_nhwc_bf16_sm80", DType::bfloat16),
        std::pair("conv_nhwc_f32_sm80", DType::float32)}) {
    size_t run = 0;
    for (const ConvCase& c : cases) {
      for (int l = 0; l < 3; ++l, ++run) {
        TestTensor x = channels_last(dtype, c.x), w = channels_last(dtype, c.w), bias(dtype, {c.y[1]});
        TestTensor y = l == 1 ? TestTensor(dtype, c.y, kOutLayouts[run % 4]) : channels_last(dtype, c.y);
        TestTensor residual =
            l == 1 ? TestTensor(dtype, c.y, kLayouts[run % 5], 1) : channels_last(dtype, c.y);
        x.random(rng, 3), w.random(rng, 3), bias.random(rng), residual.random(rng);
        Attrs attrs = attrs_of(c);
        if (l == 2) attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::relu)});
        INFO(name << " channels " << c.x[1] << " to " << c.y[1] << " rank " << c.x.size() << " variant "
                  << l);
        compare(*gpu, name, "conv_reference", {&x, &w, l > 0 ? &bias : nullptr, &y}, attrs,
                std::vector<int64_t>{4, 12, 500}[run % 3], 4, 0.1, l != 0 ? &residual : nullptr);
      }
    }
  }
}

TEST_CASE("CUDA depthwise conv and pool rows with channels side by side equal the reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(35);
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    TestTensor x = channels_last(dtype, {2, 12, 9, 7}), w = channels_last(dtype, {12, 1, 3, 3}),
               bias(dtype, {12}), y = channels_last(dtype, {2, 12, 5, 4}),
               pooled = channels_last(dtype, {2, 12, 5, 4});
    x.random(rng, 3), w.random(rng, 3), bias.random(rng);
    const std::vector<int64_t> one = {1, 1}, two = {2, 2}, three = {3, 3};
    compare(*gpu, "conv_windows_sm80", "conv_reference", {&x, &w, &bias, &y},
            {{"dilations", one}, {"groups", int64_t{12}}, {"pads_begin", one}, {"strides", two}}, 3, 4, 0.1);
    for (const int64_t kind : {0, 1}) {
      compare(*gpu, "pool_windows_sm80", "pool_reference", {&x, &pooled},
              {{"count_include_pad", int64_t{0}},
               {"dilations", one},
               {"kernel", three},
               {"kind", kind},
               {"pads_begin", one},
               {"pads_end", one},
               {"strides", two}},
              2, 2, 0.1);
    }
  }
}

TEST_CASE("CUDA pool, copy and pad rows equal the reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(33);
  for (const DType dtype : kAllCuda) {
    for (size_t l = 0; l < 5; ++l) {
      for (int64_t mode = 0; mode < 3; ++mode) {
        if (dtype == DType::uint64) continue;
        TestTensor x(dtype, {2, 3, 7, 9}, kLayouts[l], 1), y(dtype, {2, 3, 4, 5}, kOutLayouts[l % 4]);
        TestTensor x3(dtype, {1, 2, 3, 4, 5}, kLayouts[l], 1), y3(dtype, {1, 2, 2, 2, 2}, kOutLayouts[l % 4]),
            x1(dtype, {1, 1, 5}), y1(dtype, {1, 1, 3});
        x.random(rng), x3.random(rng), x1.random(rng);
        using List = std::vector<int64_t>;
        const auto attrs = [&](List kernel, List strides, List dilations, List begin, List end) {
          return Attrs{{"count_include_pad", int64_t{mode == 2}},
                       {"dilations", dilations},
                       {"kernel", kernel},
                       {"kind", int64_t{mode > 0}},
                       {"pads_begin", begin},
                       {"pads_end", end},
                       {"strides", strides}};
        };
        compare(*gpu, "pool_windows_sm80", "pool_reference", {&x, &y},
                attrs({3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}), kGrids[l % 3], 1, 0.1);
        compare(*gpu, "pool_windows_sm80", "pool_reference", {&x3, &y3},
                attrs({2, 3, 4}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}), 2, 1, 0.1);
        compare(*gpu, "pool_windows_sm80", "pool_reference", {&x1, &y1}, attrs({2}, {2}, {1}, {0}, {0}), 2, 1,
                0.1);
      }
      for (const auto& dims : std::vector<std::vector<int64_t>>{
               {}, {0}, {1}, {37}, {3, 5}, {2, 3, 1, 5}, {1, 2, 1, 2, 3, 1, 2, 1}, {70, 45}}) {
        TestTensor in(dtype, dims, kLayouts[l], 0b0101), out(dtype, dims, kOutLayouts[(l + 3) % 4]),
            dense(dtype, dims);
        in.random(rng);
        compare(*gpu, "copy_strided_sm80", "copy_reference", {&in, &out}, {}, kGrids[l % 3], 0, 0);
        compare(*gpu, "copy_strided_sm80", "copy_reference", {&out, &dense}, {}, kGrids[l % 3], 0, 0);
      }
      TestTensor in(dtype, {4, 5}, kLayouts[l], 1), value(dtype, {}), out(dtype, {6, 7}, kOutLayouts[l % 4]);
      in.random(rng), value.fill(3);
      for (int64_t mode = 0; mode < 3; ++mode) {
        compare(*gpu, "pad_elements_sm80", "pad_reference", {&in, l % 2 == 0 ? &value : nullptr, &out},
                {{"mode", mode}, {"pads_begin", std::vector<int64_t>{1, -1}}}, 1, 0, 0);
      }
    }
  }
}

}  // namespace ge::test
