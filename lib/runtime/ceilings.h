// The most that a device reaches, measured on it: what a launch's time is compared with. Entry:
// measure_ceilings.
#pragma once
#include "runtime/device.h"

namespace ge {

struct Ceilings {
  double gb_per_s = 0;   // read and written by a copy that no cache holds
  double launch_us = 0;  // the shortest step, timed as a profile times it
  // Large products of finite random numbers, sums in float32; 0: the device has no kernel or library for it.
  double tflop_per_s_f32 = 0, tflop_per_s_f16 = 0, tflop_per_s_bf16 = 0;
};
// Each is the best of several runs; a few seconds, most of them on a CPU. Takes up to 512 MiB of the device's
// memory while it runs. Errors: out_of_memory, device_memory, driver_error.
Result<Ceilings> measure_ceilings(Device& device);

}  // namespace ge
