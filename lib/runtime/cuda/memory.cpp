#include "runtime/cuda/memory.h"

#include <algorithm>

#include "base/checked_math.h"

namespace ge::cuda {
namespace {

constexpr int64_t kPlainGranularity = 512;

Diagnostic too_large(int64_t size_bytes, const Gpu& gpu) {
  return fail(Code::device_memory)
      .because(std::to_string(size_bytes) + " bytes are needed; the GPU has " +
               std::to_string(gpu.total_memory_bytes))
      .try_("use smaller dims, or a GPU with more memory");
}

Error with_size(Error error, int64_t size_bytes) {
  return std::move(error).with_frame("while taking " + std::to_string(size_bytes) +
                                     " bytes of device memory");
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  release();
}

void DeviceMemory::release() {
  const Driver& api = *gpu_.api;
  if (reserved_bytes_ == 0) {
    if (base_) api.cuMemFree(address(base_));
  } else {
    CUdeviceptr at = address(base_);
    for (auto [handle, size] : pages_) {
      api.cuMemUnmap(at, size);
      api.cuMemRelease(handle);
      at += size;
    }
    api.cuMemAddressFree(address(base_), static_cast<size_t>(reserved_bytes_));
  }
  pages_.clear();
  base_ = nullptr;
  size_bytes_ = reserved_bytes_ = 0;
}

Status DeviceMemory::grow(int64_t size_bytes) {
  if (base_ && size_bytes <= size_bytes_) return {};
  if (size_bytes > gpu_.total_memory_bytes) return too_large(size_bytes, gpu_);
  const bool mapped = reserved_bytes_ > 0 || (gpu_.virtual_memory && size_bytes > kSmallBytes);
  Status status = mapped ? grow_mapped(size_bytes) : grow_plain(size_bytes);
  if (!status.ok()) return with_size(std::move(status).take_error(), size_bytes);
  return {};
}

Status DeviceMemory::grow_plain(int64_t size_bytes) {
  const int64_t size = align_up(std::max<int64_t>(size_bytes, 1), kPlainGranularity);
  CUdeviceptr p = 0;
  GE_CU(*gpu_.api, cuMemAlloc, &p, static_cast<size_t>(size));
  release();
  base_ = reinterpret_cast<std::byte*>(p);
  size_bytes_ = size;
  return {};
}

Status DeviceMemory::grow_mapped(int64_t size_bytes) {
  const Driver& api = *gpu_.api;
  if (reserved_bytes_ == 0) {
    release();
    const int64_t range = align_up(gpu_.total_memory_bytes, gpu_.granularity);
    CUdeviceptr p = 0;
    GE_CU(api, cuMemAddressReserve, &p, static_cast<size_t>(range), static_cast<size_t>(gpu_.granularity), 0,
          0);
    base_ = reinterpret_cast<std::byte*>(p);
    reserved_bytes_ = range;
  }
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location = {CU_MEM_LOCATION_TYPE_DEVICE, gpu_.device};
  const auto more = static_cast<size_t>(align_up(size_bytes, gpu_.granularity) - size_bytes_);
  CUmemGenericAllocationHandle handle = 0;
  GE_CU(api, cuMemCreate, &handle, more, &what, 0);
  const CUdeviceptr at = address(base_) + static_cast<CUdeviceptr>(size_bytes_);
  Status status = check(api, api.cuMemMap(at, more, 0, handle, 0), "cuMemMap");
  if (!status.ok()) {
    api.cuMemRelease(handle);
    return status;
  }
  CUmemAccessDesc access{what.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  status = check(api, api.cuMemSetAccess(at, more, &access, 1), "cuMemSetAccess");
  if (!status.ok()) {
    api.cuMemUnmap(at, more);
    api.cuMemRelease(handle);
    return status;
  }
  pages_.emplace_back(handle, more);
  size_bytes_ += static_cast<int64_t>(more);
  return {};
}

PinnedMemory::~PinnedMemory() {
  if (base_) gpu_.api->cuMemFreeHost(base_);
}

Status PinnedMemory::grow(int64_t size_bytes) {
  if (base_ && size_bytes <= size_bytes_) return {};
  const int64_t size = align_up(std::max<int64_t>(size_bytes, 1), 4096);
  void* p = nullptr;
  GE_CU(*gpu_.api, cuMemHostAlloc, &p, static_cast<size_t>(size),
        CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE);
  if (base_) gpu_.api->cuMemFreeHost(base_);
  base_ = static_cast<std::byte*>(p);
  size_bytes_ = size;
  return {};
}

}  // namespace ge::cuda
