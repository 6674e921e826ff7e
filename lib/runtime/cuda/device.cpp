#include "runtime/cuda/device.h"

#include "platform/thread_pool.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/kernel.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream.h"

namespace ge::cuda {
namespace {

Result<int> attribute(const Driver& api, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  GE_CU(api, cuDeviceGetAttribute, &value, which, device);
  return value;
}

Result<int> arch_of(const Driver& api, CUdevice device) {
  GE_ASSIGN(const int major, attribute(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  GE_ASSIGN(const int minor, attribute(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  return major * 10 + minor;
}

class CudaDevice : public Device {
 public:
  explicit CudaDevice(const Driver& api) : images_(gpu_) {
    is_cuda_ = true;
    gpu_.api = &api;
  }
  ~CudaDevice() override {
    if (owns_context_) gpu_.api->cuDevicePrimaryCtxRelease(gpu_.device);
  }
  Status open(int32_t index, void* context);

  const std::string& name() const override { return name_; }
  void* enter() override {
    CUcontext former = nullptr;
    gpu_.api->cuCtxGetCurrent(&former);
    if (former != gpu_.context) gpu_.api->cuCtxSetCurrent(gpu_.context);
    return former;
  }
  void leave(void* former) override {
    if (former != gpu_.context) gpu_.api->cuCtxSetCurrent(static_cast<CUcontext>(former));
  }
  Result<std::unique_ptr<Memory>> create_memory() override {
    return std::unique_ptr<Memory>(std::make_unique<DeviceMemory>(gpu_));
  }
  Result<std::unique_ptr<Memory>> create_host_memory() override {
    return std::unique_ptr<Memory>(std::make_unique<PinnedMemory>(gpu_));
  }
  Status write(void* device, const void* host, int64_t size_bytes) override {
    if (size_bytes == 0) return {};
    GE_CU(*gpu_.api, cuMemcpyHtoD, address(device), host, static_cast<size_t>(size_bytes));
    // The last part may still be on its way when the copy returns, and our streams do not wait for the
    // default one.
    GE_CU(*gpu_.api, cuStreamSynchronize, nullptr);
    return {};
  }
  Status read(void* host, const void* device, int64_t size_bytes) override {
    if (size_bytes > 0)
      GE_CU(*gpu_.api, cuMemcpyDtoH, host, address(device), static_cast<size_t>(size_bytes));
    return {};
  }
  void parallel_for(int64_t count, void* closure, RangeFunction body) override {
    pool_.parallel_for(count, 1, [&](int64_t begin, int64_t end) { body(closure, begin, end); });
  }
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) override {
    return CudaStream::create(gpu_, options);
  }
  Result<std::unique_ptr<Kernel>> resolve(const PlanHandle& plan, const PlanKernels& kernels,
                                          uint32_t index) override {
    return resolve_kernel(gpu_, images_, plan, kernels, index);
  }
  Result<std::unique_ptr<Kernel>> product_kernel(DType) override {
    KernelDesc desc;
    desc.name = "dot_cublaslt";
    return resolve_cublaslt(gpu_, desc);
  }
  int64_t free_memory_bytes() const override {
    size_t free_bytes = 0, total_bytes = 0;
    gpu_.api->cuMemGetInfo(&free_bytes, &total_bytes);
    return static_cast<int64_t>(free_bytes);
  }

 private:
  Status read_limits();
  Gpu gpu_;
  ImageCache images_;
  ThreadPool pool_;
  bool owns_context_ = false;
  std::string name_;
};

Status CudaDevice::open(int32_t index, void* context) {
  const Driver& api = *gpu_.api;
  int count = 0;
  GE_CU(api, cuDeviceGetCount, &count);
  if (index < 0 || index >= count) {
    return fail(Code::no_gpu)
        .say("no GPU number " + std::to_string(index))
        .because(std::to_string(count) + (count == 1 ? " GPU is" : " GPUs are") + " visible")
        .try_("use --device cpu, or check CUDA_VISIBLE_DEVICES");
  }
  GE_CU(api, cuDeviceGet, &gpu_.device, index);
  if (context) {
    gpu_.context = static_cast<CUcontext>(context);
  } else {
    GE_CU(api, cuDevicePrimaryCtxRetain, &gpu_.context, gpu_.device);
    owns_context_ = true;
  }
  char name[256] = {};
  GE_CU(api, cuDeviceGetName, name, sizeof name, gpu_.device);
  name_ = name;
  const CurrentDevice current(*this);
  return read_limits();
}

Status CudaDevice::read_limits() {
  const Driver& api = *gpu_.api;
  const auto ask = [&](CUdevice_attribute which) { return attribute(api, gpu_.device, which); };
  GE_ASSIGN(gpu_.arch, arch_of(api, gpu_.device));
  GE_ASSIGN(gpu_.multiprocessors, ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  GE_ASSIGN(gpu_.max_shared_memory, ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  GE_ASSIGN(const int mappable, ask(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
  gpu_.virtual_memory = mappable != 0;
  size_t free_bytes = 0, total_bytes = 0;
  GE_CU(api, cuMemGetInfo, &free_bytes, &total_bytes);
  gpu_.total_memory_bytes = static_cast<int64_t>(total_bytes);
  if (gpu_.virtual_memory) {
    CUmemAllocationProp what{};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.location.id = gpu_.device;
    size_t granularity = 0;
    GE_CU(api, cuMemGetAllocationGranularity, &granularity, &what, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    gpu_.granularity = static_cast<int64_t>(granularity);
  }
  GE_ASSIGN(const int threads, ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  const CUdevice_attribute grid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                     CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  const CUdevice_attribute block[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                      CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  for (size_t i = 0; i < 3; ++i) {
    GE_ASSIGN(limits_.max_grid[i], ask(grid[i]));
    GE_ASSIGN(limits_.max_block[i], ask(block[i]));
  }
  target_ = "sm_" + std::to_string(gpu_.arch);
  limits_.device = KernelDevice::kCuda;
  limits_.arch = gpu_.arch;
  limits_.memory_bytes = gpu_.total_memory_bytes;
  limits_.max_threads_per_block = threads;
  limits_.max_shared_memory = gpu_.max_shared_memory;
  limits_.max_cluster = gpu_.arch >= 90 ? 8 : 1;
  return {};
}

}  // namespace

Result<std::unique_ptr<Device>> open_device(int32_t index, void* context) {
  GE_ASSIGN(const Driver* api, driver());
  auto device = std::make_unique<CudaDevice>(*api);
  GE_TRY(device->open(index, context));
  return std::unique_ptr<Device>(std::move(device));
}

Status available() {
  GE_ASSIGN(const Driver* api, driver());
  int count = 0;
  GE_CU(*api, cuDeviceGetCount, &count);
  if (count == 0) return fail(Code::no_gpu).because("the driver sees no GPU").try_("run with --device cpu");
  return {};
}

int32_t device_count() {
  auto api = driver();
  int count = 0;
  if (!api.ok() || (*api)->cuDeviceGetCount(&count) != CUDA_SUCCESS) return 0;
  return count;
}

int32_t device_arch(int32_t index) {
  auto api = driver();
  CUdevice device = 0;
  if (!api.ok() || (*api)->cuDeviceGet(&device, index) != CUDA_SUCCESS) return 0;
  auto arch = arch_of(**api, device);
  return arch.ok() ? *arch : 0;
}

}  // namespace ge::cuda
