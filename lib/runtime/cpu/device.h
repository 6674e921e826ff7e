// The CPU as a device: one thread pool, host memory, kernels called in place. Entry: cpu::open_device.
#pragma once
#include <memory>

#include "runtime/device.h"

namespace ge::cpu {

// `threads` 0: all this process may use. out_of_memory.
Result<std::unique_ptr<Device>> open_device(int32_t threads);
// "AMD EPYC 7B13", or the architecture where the system does not say. Reads /proc/cpuinfo once.
std::string processor_name();

}  // namespace ge::cpu
