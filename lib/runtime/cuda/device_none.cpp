// Stands in for cuda/ in a build without the CUDA headers.
#include "runtime/cuda/device.h"

namespace ge::cuda {

Status available() {
  return fail(Code::no_gpu)
      .because("this build has no CUDA support")
      .try_("build with -DGE_CUDA=ON, or run with --device cpu");
}
Result<std::unique_ptr<Device>> open_device(int32_t, void*) {
  return available().take_error();
}
int32_t device_count() {
  return 0;
}
int32_t device_arch(int32_t) {
  return 0;
}

}  // namespace ge::cuda
