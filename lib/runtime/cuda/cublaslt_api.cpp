#include "runtime/cuda/cublaslt_api.h"

#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "platform/dynamic_library.h"

namespace ge::cuda {
namespace {

std::vector<std::string> library_names() {
  if (const char* named = std::getenv("GE_CUBLASLT"); named && *named) return {named};
  return {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
          "/usr/local/cuda/lib64/libcublasLt.so.12"};
}

Result<CublasLt> load() {
  auto library = DynamicLibrary::open(library_names());
  if (!library.ok()) {
    Error error = std::move(library).take_error();
    error.list().front().fix =
        "install cuBLAS (or set GE_CUBLASLT to its file), or compile the model without library kernels";
    return std::move(error).with_frame("while opening cuBLASLt, which the plan uses");
  }
  CublasLt api;
#define GE_BIND(name) GE_TRY(library->bind(#name, api.name))
  GE_BIND(cublasLtCreate);
  GE_BIND(cublasLtDestroy);
  GE_BIND(cublasLtGetVersion);
  GE_BIND(cublasLtGetStatusString);
  GE_BIND(cublasLtMatmul);
  GE_BIND(cublasLtMatmulDescCreate);
  GE_BIND(cublasLtMatmulDescDestroy);
  GE_BIND(cublasLtMatmulDescSetAttribute);
  GE_BIND(cublasLtMatrixLayoutCreate);
  GE_BIND(cublasLtMatrixLayoutDestroy);
  GE_BIND(cublasLtMatrixLayoutSetAttribute);
  GE_BIND(cublasLtMatmulPreferenceCreate);
  GE_BIND(cublasLtMatmulPreferenceDestroy);
  GE_BIND(cublasLtMatmulPreferenceSetAttribute);
  GE_BIND(cublasLtMatmulAlgoGetHeuristic);
  GE_BIND(cublasLtMatmulAlgoInit);
  GE_BIND(cublasLtMatmulAlgoCheck);
  GE_BIND(cublasLtMatmulAlgoConfigSetAttribute);
#undef GE_BIND
  api.file = library->file();
  return api;
}

}  // namespace

Result<const CublasLt*> cublaslt() {
  static std::mutex mutex;
  static std::optional<Result<CublasLt>> loaded;
  const std::lock_guard lock(mutex);
  if (!loaded) loaded.emplace(load());
  if (!loaded->ok()) return Error(loaded->error());
  return static_cast<const CublasLt*>(&**loaded);
}

Status check(const CublasLt& api, LtStatus status, const char* call) {
  if (status == 0) return {};
  const char* text = api.cublasLtGetStatusString(status);
  return fail(Code::driver_error)
      .say("cuBLASLt call failed")
      .because(std::string(call) + ": " + (text ? text : "unknown error"));
}

}  // namespace ge::cuda
