// GPU memory. Entry: DeviceMemory (grows in place inside a reserved address range), PinnedMemory.
// Invariant: while a range grows past kSmallBytes its base never changes, so recorded graphs stay valid.
#pragma once
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace ge::cuda {

class DeviceMemory : public Memory {
 public:
  explicit DeviceMemory(const Gpu& gpu) : gpu_(gpu) {}
  ~DeviceMemory() override;
  // Up to kSmallBytes: a plain allocation, which moves when it grows. Above: whole pages mapped one after
  // another into an address range as large as the GPU's memory.
  Status grow(int64_t size_bytes) override;

  static constexpr int64_t kSmallBytes = 1 << 20;

 private:
  Status grow_plain(int64_t size_bytes);
  Status grow_mapped(int64_t size_bytes);
  void release();

  const Gpu& gpu_;
  int64_t reserved_bytes_ = 0;                                          // 0: plain
  std::vector<std::pair<CUmemGenericAllocationHandle, size_t>> pages_;  // mapped in order from base
};

// Host memory that the GPU reads and writes at the same address.
class PinnedMemory : public Memory {
 public:
  explicit PinnedMemory(const Gpu& gpu) : gpu_(gpu) {}
  ~PinnedMemory() override;
  Status grow(int64_t size_bytes) override;  // moves

 private:
  const Gpu& gpu_;
};

inline CUdeviceptr address(const void* p) {
  return reinterpret_cast<CUdeviceptr>(p);
}

}  // namespace ge::cuda
