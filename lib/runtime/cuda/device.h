// A GPU as a device. Entry: cuda::open_device. In a build without CUDA every call says that there is none
// (device_none.cpp).
#pragma once
#include <memory>

#include "runtime/device.h"

namespace ge::cuda {

// `context`: a CUcontext to use, or null for the primary one of device `index`. no_gpu, driver_error.
Result<std::unique_ptr<Device>> open_device(int32_t index, void* context);
int32_t device_count();              // 0: no driver, no GPU, or a build without CUDA
int32_t device_arch(int32_t index);  // 90; 0: no such device
Status available();                  // no_gpu, and why

}  // namespace ge::cuda
