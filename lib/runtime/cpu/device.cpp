#include "runtime/cpu/device.h"

#include <unistd.h>

#include <cstring>
#include <mutex>

#include "platform/file.h"
#include "platform/thread_pool.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/kernel.h"
#include "runtime/cpu/stream.h"

namespace ge::cpu {
namespace {

int64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<int64_t>(pages) * size : int64_t{1} << 40;
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(int32_t threads) : pool_(threads > 0 ? threads : default_thread_count()) {
    target_ = "cpu";
    limits_.device = KernelDevice::kCpu;
    limits_.memory_bytes = physical_memory_bytes();
  }
  const std::string& name() const override {
    std::call_once(named_, [this] { name_ = processor_name(); });
    return name_;
  }
  Result<std::unique_ptr<Memory>> create_memory() override {
    return std::unique_ptr<Memory>(std::make_unique<HostMemory>());
  }
  Result<std::unique_ptr<Memory>> create_host_memory() override { return create_memory(); }
  Status write(void* device, const void* host, int64_t size_bytes) override {
    return copy(device, host, size_bytes);
  }
  Status read(void* host, const void* device, int64_t size_bytes) override {
    return copy(host, device, size_bytes);
  }
  void parallel_for(int64_t count, void* closure, RangeFunction body) override {
    pool_.parallel_for(count, 1, [&](int64_t begin, int64_t end) { body(closure, begin, end); });
  }
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions&) override {
    return std::unique_ptr<Stream>(std::make_unique<CpuStream>(pool_));
  }
  Result<std::unique_ptr<Kernel>> resolve(const PlanHandle& plan, const PlanKernels& kernels,
                                          uint32_t index) override {
    return resolve_kernel(plan, kernels, index);
  }
  Result<std::unique_ptr<Kernel>> product_kernel(DType dtype) override { return resolve_product(dtype); }
  int64_t free_memory_bytes() const override { return limits_.memory_bytes; }

 private:
  static Status copy(void* to, const void* from, int64_t size_bytes) {
    if (size_bytes > 0) std::memcpy(to, from, static_cast<size_t>(size_bytes));
    return {};
  }
  ThreadPool pool_;
  mutable std::once_flag named_;
  mutable std::string name_;
};

}  // namespace

std::string processor_name() {
  auto text = read_file("/proc/cpuinfo", 4 << 20);
  if (text.ok()) {
    const std::string_view all = as_text(text->span());
    const size_t at = all.find("model name");
    const size_t colon = at == all.npos ? at : all.find(": ", at);
    if (colon != all.npos) return std::string(all.substr(colon + 2, all.find('\n', colon) - colon - 2));
  }
#if defined(__aarch64__)
  return "aarch64 processor";
#else
  return "x86-64 processor";
#endif
}

Result<std::unique_ptr<Device>> open_device(int32_t threads) {
  return std::unique_ptr<Device>(std::make_unique<CpuDevice>(threads));
}

}  // namespace ge::cpu
