// Runs one built-in CUDA row beside its reference on the CPU. Entry: NEED_GPU, TestGpu::run, compare. Guard
// bytes stand around every tensor.
#pragma once
#include <utility>

#include "kernels_harness.h"
#include "runtime/cuda/driver_symbols.h"

namespace ge::test {

// How a launch differs from most rows': their blocks are of 256 threads, alone, without dynamic shared
// memory.
struct Geometry {
  int64_t block = 256, cluster = 1, shared_bytes = 0;
};

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
             FaultRecord* fault = nullptr, int repeat = 1, Geometry geometry = {});
  int arch() const { return arch_; }
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

#define NEED_GPU(gpu)                  \
  TestGpu* const gpu = TestGpu::get(); \
  if (gpu == nullptr) GE_SKIP("no GPU here")

// Runs `row` on the GPU into tensors.back(), or with a residual behind it, and `reference` on the CPU, and
// compares. Attributes that the reference does not have are the row's alone.
void compare(TestGpu& gpu, std::string_view row, std::string_view reference, std::vector<TestTensor*> tensors,
             const Attrs& attrs, int64_t grid, double ulps, double floor, TestTensor* residual = nullptr,
             Geometry geometry = {});

// A tensor [N, C, spatial...] that stands in memory as [N, spatial..., C].
TestTensor channels_last(DType dtype, std::vector<int64_t> dims);

inline constexpr int64_t kGrids[] = {1, 3, 500};  // any grid is right

inline constexpr DType kAllCuda[] = {DType::float64, DType::float32, DType::float16, DType::bfloat16,
                                     DType::int64,   DType::int32,   DType::int16,   DType::int8,
                                     DType::uint64,  DType::uint32,  DType::uint16,  DType::uint8};

}  // namespace ge::test
