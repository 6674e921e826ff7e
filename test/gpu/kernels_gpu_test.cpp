// Every built-in CUDA kernel against its reference row on the CPU: element types, layouts, odd sizes, and any
// grid; guard bytes around every tensor. `[.speed]` prints what the large ones reach.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "contract/scalar_op.h"
#include "kernels/reduce/reduce.h"
#include "kernels_harness.h"
#include "runtime/cuda/driver_symbols.h"

namespace ge::test {
namespace {

// One context, one arena that each launch starts afresh.
class TestGpu {
 public:
  static constexpr size_t kArenaBytes = size_t{1} << 30;
  static TestGpu* get() {
    static TestGpu gpu;
    return gpu.ready_ ? &gpu : nullptr;
  }
  // Runs CUDA row `name` on copies of the tensors and brings their bytes back.
  Status run(std::string_view name, std::vector<TestTensor*> tensors, Attrs attrs, int64_t grid,
             FaultRecord* fault = nullptr, int repeat = 1);
  double last_us() const { return last_us_; }

 private:
  TestGpu() {
    auto found = cuda::driver();
    if (!found.ok()) return;
    api_ = *found;
    CUdevice device = 0;
    if (api_->cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        api_->cuDevicePrimaryCtxRetain(&context_, device) != CUDA_SUCCESS)
      return;
    api_->cuCtxSetCurrent(context_);
    int major = 0, minor = 0;
    api_->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    api_->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    arch_ = major * 10 + minor;
    api_->cuEventCreate(&begin_, 0);
    api_->cuEventCreate(&end_, 0);
    ready_ = api_->cuMemAlloc(&arena_, kArenaBytes) == CUDA_SUCCESS;
  }
  Result<CUfunction> function(const KernelRow& row);
  // A place for `size` bytes whose address is `like` modulo 256.
  CUdeviceptr place(size_t size, const void* like) {
    used_ = (used_ + 255) / 256 * 256 + reinterpret_cast<uintptr_t>(like) % 256;
    const CUdeviceptr at = arena_ + used_;
    used_ += size;
    return at;
  }

  const cuda::Driver* api_ = nullptr;
  CUcontext context_ = nullptr;
  CUdeviceptr arena_ = 0;
  size_t used_ = 0;
  int arch_ = 0;
  bool ready_ = false;
  CUevent begin_ = nullptr, end_ = nullptr;
  double last_us_ = 0;
  std::vector<std::pair<std::string, CUlibrary>> images_;
};

Result<CUfunction> TestGpu::function(const KernelRow& row) {
  CUlibrary library = nullptr;
  for (auto& [name, loaded] : images_) {
    if (name == row.image) library = loaded;
  }
  for (const EmbeddedImage& image : embedded_images()) {
    if (library != nullptr || image.name != row.image || image.arch / 10 != arch_ / 10) continue;
    GE_CU(*api_, cuLibraryLoadData, &library, image.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    images_.emplace_back(row.image, library);
  }
  if (library == nullptr) return fail(Code::no_target).because(std::string(row.image));
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  GE_CU(*api_, cuLibraryGetKernel, &kernel, library, std::string(row.symbol).c_str());
  GE_CU(*api_, cuKernelGetFunction, &function, kernel);
  return function;
}

Status TestGpu::run(std::string_view name, std::vector<TestTensor*> tensors, Attrs attrs, int64_t grid,
                    FaultRecord* fault, int repeat) {
  const KernelRow* row = find_kernel_row(name);
  if (row == nullptr) return fail(Code::unknown_kernel).because(std::string(name));
  std::sort(attrs.begin(), attrs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  while (tensors.size() < row->operands.size() && row->operands[tensors.size()].optional)
    tensors.push_back(nullptr);
  const KernelDesc description = desc(*row);
  used_ = 4096;  // the device block comes first
  GE_CU(*api_, cuMemsetD8, arena_, 0, 4096);
  std::vector<TensorView> views;
  std::vector<CUdeviceptr> places;
  for (TestTensor* tensor : tensors) {
    views.push_back(tensor == nullptr ? absent() : tensor->view());
    places.push_back(tensor == nullptr ? 0 : place(tensor->bytes().size(), tensor->bytes().data()));
    if (tensor == nullptr) continue;
    GE_CU(*api_, cuMemcpyHtoD, places.back(), tensor->bytes().data(), tensor->bytes().size());
    const auto offset = static_cast<const unsigned char*>(tensor->view().data) - tensor->bytes().data();
    views.back().data = reinterpret_cast<void*>(places.back() + static_cast<CUdeviceptr>(offset));
  }
  GE_TRY(check_attrs(description, attrs));
  GE_TRY(check_operands(description, views));
  GE_TRY(row->check({views, attrs, {grid, 1, 1}, {256, 1, 1}}));
  for (TensorView& v : views) {
    if (v.rank < 0) v = TensorView{};
  }
  alignas(16) std::byte args[kMaxArgsSize];
  GE_TRY(pack_args(description, views, attrs, reinterpret_cast<void*>(arena_), {args, description.args_size},
                   7));
  GE_ASSIGN(const CUfunction entry, function(*row));
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(grid);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 256;
  config.blockDimY = config.blockDimZ = 1;
  void* parameters[] = {args};
  for (int i = 0; repeat > 1 && i < 40 * repeat; ++i)
    GE_CU(*api_, cuLaunchKernelEx, &config, entry, parameters, nullptr);  // clocks go up
  GE_CU(*api_, cuEventRecord, begin_, nullptr);
  for (int i = 0; i < repeat; ++i) GE_CU(*api_, cuLaunchKernelEx, &config, entry, parameters, nullptr);
  GE_CU(*api_, cuEventRecord, end_, nullptr);
  GE_CU(*api_, cuStreamSynchronize, nullptr);
  float ms = 0;
  GE_CU(*api_, cuEventElapsedTime, &ms, begin_, end_);
  last_us_ = static_cast<double>(ms) * 1e3 / repeat;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] != nullptr)
      GE_CU(*api_, cuMemcpyDtoH, tensors[i]->bytes().data(), places[i], tensors[i]->bytes().size());
  }
  if (fault != nullptr) GE_CU(*api_, cuMemcpyDtoH, fault, arena_, sizeof *fault);
  return {};
}

#define NEED_GPU(gpu)                  \
  TestGpu* const gpu = TestGpu::get(); \
  if (gpu == nullptr) GE_SKIP("no GPU here")

std::vector<TensorView> views_of(const std::vector<TestTensor*>& tensors) {
  std::vector<TensorView> views;
  for (TestTensor* t : tensors) views.push_back(t == nullptr ? absent() : t->view());
  return views;
}

// Runs `row` on the GPU into tensors.back(), or with a residual behind it, and `reference` on the CPU, and
// compares.
void compare(TestGpu& gpu, std::string_view row, std::string_view reference, std::vector<TestTensor*> tensors,
             const Attrs& attrs, int64_t grid, double ulps, double floor, TestTensor* residual = nullptr) {
  TestTensor& out = *tensors.back();
  const size_t out_at = tensors.size() - 1;
  if (residual != nullptr) tensors.push_back(residual);
  std::vector<int64_t> dims(out.view().dims, out.view().dims + out.view().rank);
  TestTensor expected(out.view().dtype, dims);
  REQUIRE_OK(gpu.run(row, tensors, attrs, grid));
  std::vector<TestTensor*> list = tensors;
  list[out_at] = &expected;
  REQUIRE_OK(run_kernel(reference, views_of(list), attrs, {.threads = 8}));
  const DType dtype = out.view().dtype;
  for (int64_t i = 0; i < out.count(); ++i) {
    const bool same = is_float(dtype) ? near(dtype, out.at(i), expected.at(i), ulps, floor)
                                      : out.int_at(i) == expected.int_at(i);
    if (same) continue;
    INFO(row << " " << name_of(dtype) << " at " << i << " of " << out.count() << " grid " << grid);
    REQUIRE(out.at(i) == expected.at(i));
  }
  for (TestTensor* t : tensors) REQUIRE((t == nullptr || t->guards_stand()));
}

std::vector<int64_t> with(std::vector<int64_t> batch, int64_t a, int64_t b) {
  batch.push_back(a);
  batch.push_back(b);
  return batch;
}
const int64_t kGrids[] = {1, 3, 500};

constexpr DType kAllCuda[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16,
                              DType::int64,   DType::int32,   DType::int16,   DType::int8,
                              DType::uint64,  DType::uint32,  DType::uint16,  DType::uint8};

}  // namespace

TEST_CASE("CUDA dot rows equal dot_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(30);
  struct Case {
    std::vector<int64_t> batch;
    int64_t m, n, k;
  };
  const Case cases[] = {{{}, 1, 1, 1},       {{}, 3, 5, 7},       {{}, 65, 129, 40},   {{2}, 4, 3, 0},
                        {{}, 0, 3, 2},       {{2, 3}, 5, 1, 9},   {{}, 1, 200, 64},    {{}, 128, 128, 128},
                        {{}, 200, 72, 264},  {{}, 90, 1300, 300}, {{}, 700, 900, 100}, {{3}, 70, 80, 96},
                        {{}, 1536, 1400, 96}};
  struct Row {
    const char* name;
    std::vector<DType> types;
  };
  const Row rows[] = {{"dot_mma_f16_sm80", {DType::float16}},
                      {"dot_mma_bf16_sm80", {DType::bfloat16}},
                      {"dot_tiled_f32_sm80", {DType::float32}},
                      {"dot_generic_sm80",
                       {DType::float64, DType::float32, DType::float16, DType::int64, DType::int32,
                        DType::int8, DType::uint8}}};
  for (const Row& row : rows) {
    for (const DType dtype : row.types) {
      for (const Case& c : cases) {
        for (size_t l = 0; l < 5; ++l) {
          if (c.m * c.n * c.k > 100000000 && (l > 1 || std::string_view(row.name) == "dot_generic_sm80"))
            continue;
          TestTensor lhs(dtype, with(c.batch, c.m, c.k), kLayouts[l % 2 == 0 ? 0 : l], 1),
              rhs(dtype, with(c.batch, c.k, c.n), kLayouts[(l + 1) % 5], 1);
          TestTensor bias(dtype, with(c.batch, c.m, c.n), Layout::kBroadcast, 1 << c.batch.size()),
              out(dtype, with(c.batch, c.m, c.n), kOutLayouts[l % 4]);
          TestTensor residual(dtype, with(c.batch, c.m, c.n), kLayouts[(l + 2) % 5], 1);
          lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng), residual.random(rng);
          Attrs attrs;
          if (is_float(dtype) && l == 2)
            attrs.emplace_back("activation", int64_t{static_cast<uint16_t>(ScalarOp::gelu)});
          INFO(row.name << " " << layout_name(kLayouts[l]) << " " << c.m << "x" << c.n << "x" << c.k);
          compare(*gpu, row.name, "dot_reference", {&lhs, &rhs, l % 2 == 0 ? &bias : nullptr, &out}, attrs,
                  kGrids[l % 3], 4, 0.1, l > 1 ? &residual : nullptr);
        }
      }
    }
  }
}

TEST_CASE("CUDA epilogues equal the reference's activations") {
  NEED_GPU(gpu);
  std::mt19937 rng(31);
  const struct {
    int64_t code;
    double alpha, beta;
  } ops[] = {
#define GE_ACTIVATION_1(name, code) {code, 0, 0},
#define GE_ACTIVATION_2(name, code) {code, 0.75, 0},
#define GE_ACTIVATION_3(name, code) {code, 0.25, 0.5},
#include "kernels/common/epilogue_ops.def"
#undef GE_ACTIVATION_1
#undef GE_ACTIVATION_2
#undef GE_ACTIVATION_3
  };
  for (const auto& op : ops) {
    TestTensor lhs(DType::float32, {9, 4}), rhs(DType::float32, {4, 11}), out(DType::float32, {9, 11});
    lhs.random(rng, 6), rhs.random(rng, 6);
    INFO("activation " << op.code);
    compare(*gpu, "dot_tiled_f32_sm80", "dot_reference", {&lhs, &rhs, nullptr, &out},
            {{"activation", op.code}, {"activation_alpha", op.alpha}, {"activation_beta", op.beta}}, 2, 8,
            1e-3);
  }
}

TEST_CASE("CUDA conv rows equal conv_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(32);
  struct Case {
    std::vector<int64_t> x, w, y, strides, dilations, pads;
    int64_t groups;
  };
  const Case cases[] = {
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
      for (const Case& c : cases) {
        if ((c.x.size() > 4 && !row.spatial3) || (c.groups > 1 && c.y[1] / c.groups < 8 && !row.narrow))
          continue;
        for (size_t l = 0; l < 5; ++l) {
          TestTensor x(dtype, c.x, kLayouts[l], 1), w(dtype, c.w, kLayouts[l < 2 ? 0 : (l + 1) % 5], 1),
              bias(dtype, {c.y[1]}, kLayouts[l]);
          TestTensor y(dtype, c.y, kOutLayouts[l % 4]);
          TestTensor residual(dtype, c.y, kLayouts[(l + 2) % 5], 1);
          x.random(rng, 3), w.random(rng, 3), bias.random(rng), residual.random(rng);
          Attrs attrs = {{"dilations", c.dilations},
                         {"groups", c.groups},
                         {"pads_begin", c.pads},
                         {"strides", c.strides}};
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

// [N, C, spatial...] in memory as [N, spatial..., C].
TestTensor channels_last(DType dtype, std::vector<int64_t> dims) {
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  TestTensor tensor(dtype, dims);
  TensorView& view = tensor.view();
  std::rotate(view.dims + 1, view.dims + view.rank - 1, view.dims + view.rank);
  std::rotate(view.strides + 1, view.strides + view.rank - 1, view.strides + view.rank);
  return tensor;
}

TEST_CASE("CUDA conv_nhwc rows equal conv_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(34);
  struct Case {
    std::vector<int64_t> x, w, y, strides, dilations, pads;
    int64_t groups;
  };
  const Case cases[] = {
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
    for (const Case& c : cases) {
      for (int l = 0; l < 3; ++l, ++run) {
        TestTensor x = channels_last(dtype, c.x), w = channels_last(dtype, c.w), bias(dtype, {c.y[1]});
        TestTensor y = l == 1 ? TestTensor(dtype, c.y, kOutLayouts[run % 4]) : channels_last(dtype, c.y);
        TestTensor residual =
            l == 1 ? TestTensor(dtype, c.y, kLayouts[run % 5], 1) : channels_last(dtype, c.y);
        x.random(rng, 3), w.random(rng, 3), bias.random(rng), residual.random(rng);
        Attrs attrs = {
            {"dilations", c.dilations}, {"groups", c.groups}, {"pads_begin", c.pads}, {"strides", c.strides}};
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

TEST_CASE("CUDA reduce rows equal reduce_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(34);
  using kernels::ReduceKind;
  const std::vector<std::pair<std::vector<int64_t>, int64_t>> shapes = {
      {{5}, 1},    {{3, 100}, 1},       {{3, 100}, 2},          {{3, 4}, 3},
      {{3, 4}, 0}, {{2, 3, 40}, 0b101}, {{2, 3, 1, 4}, 0b1010}, {{0, 3}, 2},
      {{2, 0}, 2}};
  for (const DType dtype : kAllCuda) {
    for (const auto& [dims, axes] : shapes) {
      for (int64_t k = 0; k < kernels::kReduceKinds; ++k) {
        const auto layout = static_cast<size_t>(k + axes) % 5;
        const bool position = k >= static_cast<int64_t>(ReduceKind::kArgMax);
        std::vector<int64_t> kept = dims;
        for (size_t i = 0; i < dims.size(); ++i) {
          if ((axes >> i) & 1) kept[i] = 1;
        }
        TestTensor in(dtype, dims, kLayouts[layout], 1),
            out(position ? DType::int64 : dtype, kept, kOutLayouts[layout % 4]);
        in.random(rng, 2);
        if (is_float(dtype) && k > 1 && axes == 2 && in.count() > 150) in.set(150, NAN);
        const Attrs attrs = {{"axes", axes}, {"kind", k}, {"select_last", axes & 1}};
        INFO(name_of(dtype) << " kind " << k << " axes " << axes);
        compare(*gpu, "reduce_generic_sm80", "reduce_reference", {&in, &out}, attrs, kGrids[layout % 3], 1,
                0.1);
      }
    }
  }
}

TEST_CASE("CUDA gather equals gather_reference and notes what is out of range") {
  NEED_GPU(gpu);
  std::mt19937 rng(35);
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::int8, DType::boolean}) {
    for (const DType index_type : {DType::int64, DType::int32}) {
      for (int64_t axis = 0; axis < 3; ++axis) {
        for (size_t l = 0; l < 5; ++l) {
          const std::vector<int64_t> dims = {3, 4, 5};
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

TEST_CASE("CUDA attention rows equal attention_reference") {
  NEED_GPU(gpu);
  std::mt19937 rng(44);
  struct Case {
    int64_t batch, heads, shared, queries, keys, size, width, causal;
    int mask;  // 0: none, 1: added, 2: bool, 3: added, whole rows -inf
    bool zero_empty = false;
  };
  const Case cases[] = {{1, 1, 1, 1, 1, 1, 1, 0, 0},
                        {2, 3, 3, 17, 17, 8, 8, 1, 0},
                        {1, 2, 2, 63, 65, 64, 64, 0, 1},
                        {1, 2, 1, 64, 64, 32, 32, 1, 3, true},
                        {2, 4, 2, 65, 63, 7, 33, 2, 2},
                        {1, 1, 1, 128, 300, 64, 64, 0, 3},
                        {1, 4, 2, 300, 128, 96, 40, 1, 2, true},
                        {1, 2, 1, 300, 257, 128, 128, 2, 1},
                        {3, 8, 2, 257, 129, 128, 100, 0, 0},
                        {1, 1, 1, 5, 0, 4, 4, 0, 0},
                        {1, 2, 2, 4, 3, 0, 4, 0, 0},
                        {0, 2, 2, 4, 3, 8, 4, 0, 0},
                        {2, 2, 1, 0, 3, 8, 4, 0, 0},
                        {1, 1, 1, 9, 4, 8, 8, 2, 0},
                        {8, 12, 12, 128, 128, 64, 64, 0, 0},
                        {16, 12, 12, 128, 128, 64, 64, 1, 0},
                        {4, 16, 4, 300, 300, 96, 96, 1, 0},
                        {4, 16, 16, 256, 200, 128, 128, 0, 1},
                        {2, 12, 12, 512, 512, 64, 64, 1, 0},
                        {16, 12, 3, 130, 90, 20, 30, 2, 2}};
  size_t l = 0;
  for (const Case& c : cases) {
    for (const DType dtype : {DType::float16, DType::bfloat16}) {
      const bool small = std::max(c.size, c.width) <= 64, half = dtype == DType::float16;
      const std::string row =
          std::string("attention_mma") + (small ? "64" : "128") + (half ? "_f16" : "_bf16") + "_sm80";
      // Dense ones take 16 bytes at a time, the others element by element.
      const bool dense = l % 3 == 0;
      const auto layout = [&](size_t i) { return dense ? Layout::kDense : kLayouts[(l + i) % 4]; };
      TestTensor q(dtype, {c.batch, c.heads, c.queries, c.size}, layout(0)),
          k(dtype, {c.batch, c.shared, c.keys, c.size}, layout(1)),
          v(dtype, {c.batch, c.shared, c.keys, c.width}, layout(2)),
          mask(c.mask == 2 ? DType::boolean : dtype, {c.batch, c.heads, c.queries, c.keys},
               l % 2 == 0 ? Layout::kBroadcast : Layout::kGapped, l % 2 == 0 ? 3 : 0);
      q.random(rng, 4), k.random(rng, 4), v.random(rng, 8);
      for (int64_t i = 0; i < mask.count(); ++i) {
        const bool off = rng() % 3 == 0 || (c.mask == 3 && i / std::max<int64_t>(c.keys, 1) % 7 == 5);
        mask.set(i, c.mask == 2 ? !off : off ? -std::numeric_limits<double>::infinity() : (rng() % 5) / 4.0);
      }
      for (const int64_t grid : kGrids) {
        TestTensor out(dtype, {c.batch, c.queries, c.heads, c.width},
                       dense ? Layout::kDense : kOutLayouts[l % 4]);
        compare(*gpu, row, "attention_reference", {&q, &k, &v, c.mask == 0 ? nullptr : &mask, &out},
                {{"causal", c.causal},
                 {"fill", l % 2 == 0 ? -3.0 : -std::numeric_limits<double>::infinity()},
                 {"scale", 0.125},
                 {"zero_empty", int64_t{c.zero_empty}}},
                grid, 4, 1);
      }
      ++l;
    }
  }
}

TEST_CASE("speed of the CUDA attention", "[.speed]") {
  NEED_GPU(gpu);
  std::mt19937 rng(45);
  struct Case {
    int64_t batch, heads, length, size, causal;
  };
  for (const Case& c : {Case{1, 12, 128, 64, 0}, Case{8, 12, 128, 64, 0}, Case{32, 12, 512, 64, 0},
                        Case{1, 12, 512, 64, 1}, Case{8, 12, 197, 64, 0}, Case{1, 32, 512, 64, 1},
                        Case{4, 16, 2048, 64, 0}, Case{4, 16, 2048, 128, 0}, Case{4, 16, 2048, 128, 1}}) {
    const std::vector<int64_t> dims{c.batch, c.heads, c.length, c.size};
    TestTensor q(DType::float16, dims), k(DType::float16, dims), v(DType::float16, dims);
    q.random(rng, 8), k.random(rng, 8), v.random(rng, 8);
    TestTensor out(DType::float16, {c.batch, c.length, c.heads, c.size});
    const std::string row = c.size <= 64 ? "attention_mma64_f16_sm80" : "attention_mma128_f16_sm80";
    const auto tiles = [&](int64_t rows) { return (c.length + rows - 1) / rows * c.batch * c.heads; };
    const int64_t grid = std::min(tiles(32), std::max<int64_t>(tiles(128), 512));
    REQUIRE_OK(gpu->run(row, {&q, &k, &v, nullptr, &out},
                        {{"causal", c.causal},
                         {"fill", -std::numeric_limits<double>::infinity()},
                         {"scale", 0.125},
                         {"zero_empty", int64_t{0}}},
                        grid, nullptr, 20));
    const double flops =
        4.0 * static_cast<double>(c.batch * c.heads * c.length * c.length * c.size) / (c.causal != 0 ? 2 : 1);
    std::printf("%s b%lld h%lld s%lld d%lld causal %lld: %.2f us, %.0f TFLOP/s\n", row.c_str(),
                static_cast<long long>(c.batch), static_cast<long long>(c.heads),
                static_cast<long long>(c.length), static_cast<long long>(c.size),
                static_cast<long long>(c.causal), gpu->last_us(), flops / gpu->last_us() * 1e-6);
  }
}

TEST_CASE("speed of the large CUDA kernels", "[.speed]") {
  NEED_GPU(gpu);
  std::mt19937 rng(36);
  const auto fill = [&](TestTensor& t) {
    for (int64_t i = 0; i < t.count(); i += 7)
      t.set(i, static_cast<double>(static_cast<int>(rng() % 17) - 8) / 8);
  };
  struct Dot {
    const char* row;
    DType dtype;
    int64_t m, n, k;
    bool transposed;
  };
  for (const Dot& d : {Dot{"dot_mma_f16_sm80", DType::float16, 4096, 4096, 4096, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 4096, 4096, 4096, true},
                       Dot{"dot_mma_f16_sm80", DType::float16, 512, 3072, 768, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 64, 4096, 1024, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 64, 4096, 4096, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 64, 1024, 4096, false},
                       Dot{"dot_mma_f16_sm80", DType::float16, 128, 768, 768, true},
                       Dot{"dot_mma_f16_sm80", DType::float16, 1, 4096, 4096, false},
                       Dot{"dot_tiled_f32_sm80", DType::float32, 2048, 2048, 2048, false},
                       Dot{"dot_tiled_f32_sm80", DType::float32, 64, 4096, 1024, false}}) {
    TestTensor lhs(d.dtype, {d.m, d.k}),
        rhs(d.dtype, {d.k, d.n}, d.transposed ? Layout::kTransposed : Layout::kDense),
        out(d.dtype, {d.m, d.n});
    fill(lhs), fill(rhs);
    REQUIRE_OK(gpu->run(d.row, {&lhs, &rhs, nullptr, &out}, {},
                        (d.m + 63) / 64 * ((d.n + 63) / 64) * (d.m < 256 ? 8 : 1), nullptr, 20));
    std::printf("%-28s %5lld x %5lld x %5lld%s %9.1f us %8.2f TFLOP/s\n", d.row, static_cast<long long>(d.m),
                static_cast<long long>(d.n), static_cast<long long>(d.k), d.transposed ? " T" : "  ",
                gpu->last_us(), 2.0 * static_cast<double>(d.m * d.n * d.k) / gpu->last_us() * 1e-6);
  }
  struct Conv {
    const char* row;
    DType dtype;
    int64_t n, c, size, m, k, groups;
  };
  for (const Conv& c : {Conv{"conv_implicit_gemm_f16_sm80", DType::float16, 1, 64, 56, 64, 3, 1},
                        Conv{"conv_implicit_gemm_f16_sm80", DType::float16, 32, 128, 28, 128, 3, 1},
                        Conv{"conv_implicit_gemm_f16_sm80", DType::float16, 32, 256, 14, 1024, 1, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 64, 56, 64, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 128, 28, 128, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 256, 14, 256, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 1, 512, 7, 512, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 64, 56, 64, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 128, 28, 128, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 256, 14, 256, 3, 1},
                        Conv{"conv_nhwc_f16_sm80", DType::float16, 32, 512, 7, 512, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 1, 64, 56, 64, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 1, 256, 14, 256, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 1, 512, 7, 512, 3, 1},
                        Conv{"conv_nhwc_f32_sm80", DType::float32, 8, 128, 28, 128, 3, 1},
                        Conv{"conv_direct_f32_sm80", DType::float32, 8, 128, 28, 128, 3, 1},
                        Conv{"conv_windows_sm80", DType::float16, 8, 128, 56, 128, 3, 128}}) {
    const bool last = std::string_view(c.row).starts_with("conv_nhwc");
    const auto tensor = [&](std::vector<int64_t> dims) {
      return last ? channels_last(c.dtype, dims) : TestTensor(c.dtype, dims);
    };
    TestTensor x = tensor({c.n, c.c, c.size, c.size}), w = tensor({c.m, c.c / c.groups, c.k, c.k}),
               y = tensor({c.n, c.m, c.size, c.size});
    fill(x), fill(w);
    const std::vector<int64_t> one = {1, 1}, pad = {c.k / 2, c.k / 2};
    REQUIRE_OK(gpu->run(c.row, {&x, &w, nullptr, &y},
                        {{"dilations", one}, {"groups", c.groups}, {"pads_begin", pad}, {"strides", one}},
                        std::min<int64_t>((y.count() + 255) / 256, 4096) / 4 * 4, nullptr, 20));
    std::printf("%-28s n %lld c %lld %lldx%lld m %lld k %lld %9.1f us %8.2f TFLOP/s\n", c.row,
                static_cast<long long>(c.n), static_cast<long long>(c.c), static_cast<long long>(c.size),
                static_cast<long long>(c.size), static_cast<long long>(c.m), static_cast<long long>(c.k),
                gpu->last_us(),
                2.0 * static_cast<double>(y.count() * c.c / c.groups * c.k * c.k) / gpu->last_us() * 1e-6);
  }
}

}  // namespace ge::test
