// Empties a device's caches of a model's data, between timed runs: writes other memory. Entry: CacheSweep.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace ge {

class CacheSweep {
 public:
  // Takes 256 MiB on the device: over four times the L2 of an H200. out_of_memory.
  Status prepare(Device& device, Stream& stream);
  Status enqueue(Stream& stream) { return fill_->enqueue(stream); }  // after prepare

 private:
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<DeviceStep> fill_;
};

}  // namespace ge
