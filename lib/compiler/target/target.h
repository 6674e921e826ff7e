// What the compiler knows of a machine it compiles for, as data: it never probes one. Entry: find_target,
// all_targets.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "contract/kernel_desc.h"

namespace ge {

struct Target {
  std::string_view name;      // "cpu", "sm_90"
  int32_t arch = 0;           // 90; 0 for the CPU
  double copy_gbps = 0;       // device memory, bytes read plus written
  double float32_gflops = 0;  // outside matrix units
  double float16_gflops = 0;  // matrix units
  double launch_us = 0;       // one more launch in a recorded sequence
  int64_t shared_memory_kib = 0;
  std::string_view summary;
  KernelDevice device() const { return arch == 0 ? KernelDevice::kCpu : KernelDevice::kCuda; }
};
std::span<const Target> all_targets();
const Target* find_target(std::string_view name);  // null: unknown

}  // namespace ge
