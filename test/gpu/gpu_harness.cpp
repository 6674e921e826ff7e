#include "gpu_harness.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/cuda/tensor_map.h"

namespace ge::test {
namespace {

std::vector<TensorView> views_of(const std::vector<TestTensor*>& tensors) {
  std::vector<TensorView> views;
  for (TestTensor* t : tensors) views.push_back(t == nullptr ? absent() : t->view());
  return views;
}

}  // namespace

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
                    FaultRecord* fault, int repeat, Geometry geometry) {
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
  GE_TRY(row->check({views, attrs, {grid, 1, 1}, {geometry.block, 1, 1}}));
  for (TensorView& v : views) {
    if (v.rank < 0) v = TensorView{};
  }
  alignas(64) std::byte args[kMaxArgsSize];
  GE_TRY(pack_args(description, views, attrs, reinterpret_cast<void*>(arena_), {args, description.args_size},
                   7));
  cuda::Gpu gpu;
  gpu.api = api_;
  GE_TRY(cuda::encode_tensor_maps(gpu, description, views, attrs, {args, description.args_size}));
  GE_ASSIGN(const CUfunction entry, function(*row));
  if (geometry.shared_bytes > 0)
    GE_CU(*api_, cuFuncSetAttribute, entry, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          static_cast<int>(geometry.shared_bytes));
  CUlaunchConfig config{};
  config.sharedMemBytes = static_cast<unsigned>(geometry.shared_bytes);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {static_cast<unsigned>(geometry.cluster), 1, 1};
  config.attrs = &cluster;
  config.numAttrs = geometry.cluster > 1 ? 1 : 0;
  config.gridDimX = static_cast<unsigned>(grid);
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = static_cast<unsigned>(geometry.block);
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

// One launch in five is run where GE_QUICK is in the environment: for compute-sanitizer, under which each
// takes a hundred times longer.
static bool is_left_out() {
  static int calls = 0;
  return std::getenv("GE_QUICK") != nullptr && calls++ % 5 != 0;
}

void compare(TestGpu& gpu, std::string_view row, std::string_view reference, std::vector<TestTensor*> tensors,
             const Attrs& attrs, int64_t grid, double ulps, double floor, TestTensor* residual,
             Geometry geometry) {
  if (is_left_out()) return;
  TestTensor& out = *tensors.back();
  const size_t out_at = tensors.size() - 1;
  if (residual != nullptr) tensors.push_back(residual);
  std::vector<int64_t> dims(out.view().dims, out.view().dims + out.view().rank);
  TestTensor expected(out.view().dtype, dims);
  REQUIRE_OK(gpu.run(row, tensors, attrs, grid, nullptr, 1, geometry));
  std::vector<TestTensor*> list = tensors;
  list[out_at] = &expected;
  Attrs known = attrs;
  const KernelRow* asked = find_kernel_row(reference);
  std::erase_if(known, [&](const auto& attr) {
    return std::none_of(asked->attrs.begin(), asked->attrs.end(),
                        [&](const AttrRow& a) { return a.name == attr.first; });
  });
  REQUIRE_OK(run_kernel(reference, views_of(list), known, {.threads = 8}));
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

TestTensor channels_last(DType dtype, std::vector<int64_t> dims) {
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  TestTensor tensor(dtype, dims);
  TensorView& view = tensor.view();
  std::rotate(view.dims + 1, view.dims + view.rank - 1, view.dims + view.rank);
  std::rotate(view.strides + 1, view.strides + view.rank - 1, view.strides + view.rank);
  return tensor;
}

}  // namespace ge::test
