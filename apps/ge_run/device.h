// Which device runs the plan, and why. Entry: open_chosen_device.
#pragma once
#include <string>

#include "ge_run/options.h"
#include "ge_run/runtime.h"

namespace ge {

struct ChosenDevice {
  DevicePtr device;
  std::string text;    // "cuda:0", "cpu"
  std::string reason;  // "the plan has code for sm_90"
};
// auto: the first GPU that the plan has code for, else the CPU. The driver is asked only where the plan has
// GPU code or --device says cuda. Without a plan (null) auto is the first GPU where there is one. Errors:
// no_gpu, no_target.
Result<ChosenDevice> open_chosen_device(const RunCommand& command, const ge_plan* plan);

}  // namespace ge
