// Host memory that can grow: whole pages straight from the system, so large buffers cost nothing until they
// are touched. Entry: HostMemory. Invariant: base() is page aligned; contents are zero until written.
#pragma once
#include "runtime/device.h"

namespace ge::cpu {

class HostMemory : public Memory {
 public:
  ~HostMemory() override;
  // Growing moves the range and drops its contents.
  Status grow(int64_t size_bytes) override;
};

}  // namespace ge::cpu
