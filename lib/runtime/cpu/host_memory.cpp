#include "runtime/cpu/host_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/checked_math.h"

namespace ge::cpu {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kHugePageBytes = 2 << 20;

}  // namespace

HostMemory::~HostMemory() {
  if (base_) munmap(base_, static_cast<size_t>(size_bytes_));
}

Status HostMemory::grow(int64_t size_bytes) {
  if (size_bytes <= size_bytes_ && base_) return {};
  if (size_bytes > INT64_MAX - kHugePageBytes)
    return fail(Code::out_of_memory).because(std::to_string(size_bytes) + " bytes were asked for");
  // One page more than asked: an empty tensor still has an address.
  const int64_t size =
      align_up(std::max<int64_t>(size_bytes, 1), size_bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes);
  void* p =
      mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return fail(Code::out_of_memory).because(std::to_string(size_bytes) + " bytes were asked for");
  if (size >= kHugePageBytes) madvise(p, static_cast<size_t>(size), MADV_HUGEPAGE);
  if (base_) munmap(base_, static_cast<size_t>(size_bytes_));
  base_ = static_cast<std::byte*>(p);
  size_bytes_ = size;
  return {};
}

}  // namespace ge::cpu
