// The one file that knows which kinds of device there are.
#include "platform/clock.h"
#include "runtime/cpu/device.h"
#include "runtime/cpu/onednn_library.h"
#include "runtime/cuda/device.h"
#include "runtime/device.h"

namespace ge {

Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options) {
  const int64_t began = monotonic_ns();
  auto device = options.cuda ? cuda::open_device(options.index, options.cuda_context)
                             : cpu::open_device(options.threads);
  if (device.ok()) (*device)->set_open_us(static_cast<double>(monotonic_ns() - began) / 1000);
  return device;
}

const std::string& cpu_library() {
  return cpu::onednn_text();
}
int32_t cuda_device_count() {
  return cuda::device_count();
}
int32_t cuda_device_arch(int32_t index) {
  return cuda::device_arch(index);
}
Status cuda_available() {
  return cuda::available();
}

}  // namespace ge
