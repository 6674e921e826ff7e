// NVRTC, opened at run time. Entry: Nvrtc::open, then compile. No GPU and no driver are needed.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace ge {

struct NvrtcOptions {
  bool keep_ptx = false;
  bool fuse_multiply_add = true;  // false where results must be the reference's bits (--exact)
  bool device_debug_log =
      false;  // ptxas -v into NvrtcResult::log: registers, stack and spills of each kernel
};
struct NvrtcResult {
  std::vector<std::byte> cubin;
  std::string ptx;  // empty unless keep_ptx
  std::string log;  // the compiler's remarks; may be empty
};

class Nvrtc {
 public:
  // Looks in GE_NVRTC (a file), the loader's path, CUDA_HOME, CUDA_PATH, and /usr/local/cuda.
  // codegen_unavailable with where it looked.
  static Result<Nvrtc> open();
  int version() const { return version_; }  // 13000 for 13.0
  // One program of any number of kernels, for `arch` 80, 90 ... (90 is compiled as sm_90a). codegen_failed
  // with the compiler's log (a bug of ours: the text was generated), codegen_unavailable where this NVRTC
  // does not know the architecture.
  Result<NvrtcResult> compile(const std::string& source, int arch, const NvrtcOptions& options = {}) const;

 private:
  struct Functions;
  Nvrtc(std::shared_ptr<const Functions> functions, int version)
      : functions_(std::move(functions)), version_(version) {}
  std::shared_ptr<const Functions> functions_;
  int version_ = 0;
};

}  // namespace ge
