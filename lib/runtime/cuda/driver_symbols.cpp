#include "runtime/cuda/driver_symbols.h"

#include <mutex>
#include <optional>

#include "platform/dynamic_library.h"

namespace ge::cuda {
namespace {

using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

// The names without cuda.h's version suffixes: cuGetProcAddress picks the version that fits the header.
struct Wanted {
  const char* name;
  void** into;
};

Diagnostic too_old(const char* name, int version) {
  return fail(Code::no_gpu)
      .say("the NVIDIA driver is too old")
      .because("it has no " + std::string(name) + "; it is for CUDA " + std::to_string(version / 1000) + "." +
               std::to_string(version % 1000 / 10))
      .try_("install a driver for CUDA 12.4 or newer, or run with --device cpu");
}

Status resolve(const DynamicLibrary& library, Driver& api) {
  auto get = reinterpret_cast<GetProcAddress>(library.symbol("cuGetProcAddress_v2"));
  auto version = reinterpret_cast<decltype(&::cuDriverGetVersion)>(library.symbol("cuDriverGetVersion"));
  if (version) version(&api.version);
  if (!get) return too_old("cuGetProcAddress_v2", api.version);
  const Wanted wanted[] = {
#define GE_X(name) {#name, reinterpret_cast<void**>(&api.name)},
      GE_DRIVER_FUNCTIONS(GE_X)
#undef GE_X
  };
  for (const Wanted& w : wanted) {
    CUdriverProcAddressQueryResult found{};
    if (get(w.name, w.into, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &found) != CUDA_SUCCESS || !*w.into)
      return too_old(w.name, api.version);
  }
  return {};
}

Result<Driver> load() {
  auto library = DynamicLibrary::open({"libcuda.so.1", "libcuda.so"});
  if (!library.ok()) {
    return fail(Code::no_gpu)
        .say("no NVIDIA driver on this machine")
        .because(library.error().first().found.empty() ? library.error().first().message
                                                       : library.error().first().found)
        .try_("install the NVIDIA driver, or run with --device cpu");
  }
  Driver api;
  GE_TRY(resolve(*library, api));
  api.file = library->file();
  const CUresult result = api.cuInit(0);
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    api.cuGetErrorString(result, &text);
    return fail(Code::no_gpu)
        .say("the NVIDIA driver finds no usable GPU")
        .because("cuInit: " + std::string(text ? text : "unknown error"))
        .try_("check nvidia-smi, or run with --device cpu");
  }
  return api;
}

}  // namespace

Result<const Driver*> driver() {
  static std::mutex mutex;
  static std::optional<Result<Driver>> loaded;
  const std::lock_guard lock(mutex);
  if (!loaded) loaded.emplace(load());
  if (!loaded->ok()) return Error(loaded->error());
  return static_cast<const Driver*>(&**loaded);
}

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
      return true;
    default:
      return false;
  }
}

Status check(const Driver& api, CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  api.cuGetErrorName(result, &name);
  api.cuGetErrorString(result, &text);
  std::string found = std::string(call) + ": " + (name ? name : "unknown error");
  if (text) found += std::string(" (") + text + ")";
  if (is_sticky(result)) {
    return fail(Code::device_lost)
        .because(found)
        .try_("the model and its sessions can only be freed; start a new process");
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return fail(Code::device_memory).because(found);
  return fail(Code::driver_error).because(found);
}

}  // namespace ge::cuda
