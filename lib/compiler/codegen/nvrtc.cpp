// NVRTC through dlopen: its few entry points are declared here, so that no CUDA header is needed to build.
#include "compiler/codegen/nvrtc.h"

#include <array>
#include <cstdlib>

#include "platform/dynamic_library.h"
#include "platform/signals.h"

namespace ge {

struct OpaqueProgram;  // nvrtcProgram points at one

struct Nvrtc::Functions {
  using Program = OpaqueProgram*;
  int (*version)(int* major, int* minor) = nullptr;
  int (*supported_count)(int* count) = nullptr;
  int (*supported)(int* archs) = nullptr;
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int options, const char* const*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  const char* (*error_string)(int) = nullptr;
};

namespace {

std::vector<std::string> candidates() {
  std::vector<std::string> names;
  if (const char* file = std::getenv("GE_NVRTC"); file && *file) return {file};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* home = std::getenv(variable);
    if (home == nullptr || *home == 0) continue;
    for (const char* version : {"13", "12"})
      names.push_back(std::string(home) + "/lib64/libnvrtc.so." + version);
  }
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
                           "/usr/local/cuda/lib64/libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    names.push_back(name);
  }
  return names;
}

Diagnostic unavailable(std::string found) {
  return fail(Code::codegen_unavailable)
      .because(std::move(found))
      .try_("install NVRTC (part of the CUDA toolkit), or set GE_NVRTC to its libnvrtc.so");
}

// NVRTC opens its builtins by their name alone, which the loader knows once they are open: a toolkit that
// lies outside its search path works too. Where they are not beside NVRTC, compiling says what is missing.
void open_builtins(const DynamicLibrary& nvrtc, int major, int minor) {
  const std::string file = nvrtc.file();
  const size_t slash = file.rfind('/');
  if (slash == file.npos) return;
  (void)DynamicLibrary::open({file.substr(0, slash) + "/libnvrtc-builtins.so." + std::to_string(major) + "." +
                              std::to_string(minor)});
}

// The program of one compilation, destroyed on every way out.
class ProgramOwner {
 public:
  explicit ProgramOwner(int (*destroy)(OpaqueProgram**)) : destroy_(destroy) {}
  ~ProgramOwner() {
    if (program != nullptr) destroy_(&program);
  }
  ProgramOwner(const ProgramOwner&) = delete;
  OpaqueProgram* program = nullptr;

 private:
  int (*destroy_)(OpaqueProgram**);
};

}  // namespace

Result<Nvrtc> Nvrtc::open() {
  auto library = DynamicLibrary::open(candidates());
  if (!library.ok()) return unavailable("NVRTC cannot be loaded: " + library.error().first().found);
  auto f = std::make_shared<Functions>();
  const auto bind_all = [&]() -> Status {
    GE_TRY(library->bind("nvrtcVersion", f->version));
    GE_TRY(library->bind("nvrtcGetNumSupportedArchs", f->supported_count));
    GE_TRY(library->bind("nvrtcGetSupportedArchs", f->supported));
    GE_TRY(library->bind("nvrtcCreateProgram", f->create));
    GE_TRY(library->bind("nvrtcDestroyProgram", f->destroy));
    GE_TRY(library->bind("nvrtcCompileProgram", f->compile));
    GE_TRY(library->bind("nvrtcGetProgramLogSize", f->log_size));
    GE_TRY(library->bind("nvrtcGetProgramLog", f->log));
    GE_TRY(library->bind("nvrtcGetCUBINSize", f->cubin_size));
    GE_TRY(library->bind("nvrtcGetCUBIN", f->cubin));
    GE_TRY(library->bind("nvrtcGetPTXSize", f->ptx_size));
    GE_TRY(library->bind("nvrtcGetPTX", f->ptx));
    return library->bind("nvrtcGetErrorString", f->error_string);
  };
  if (const Status bound = bind_all(); !bound.ok())
    return unavailable(library->name() + " is no NVRTC of version 11.2 or later");
  int major = 0, minor = 0;
  if (f->version(&major, &minor) != 0) return unavailable(library->name() + " does not tell its version");
  open_builtins(*library, major, minor);
  return Nvrtc(std::move(f), major * 1000 + minor * 10);
}

Result<NvrtcResult> Nvrtc::compile(const std::string& source, int arch, const NvrtcOptions& options) const {
  const Functions& f = *functions_;
  int count = 0;
  if (f.supported_count(&count) != 0) return unavailable("NVRTC does not tell its architectures");
  std::vector<int> archs(static_cast<size_t>(count));
  if (count > 0 && f.supported(archs.data()) != 0)
    return unavailable("NVRTC does not tell its architectures");
  bool known = false;
  for (const int a : archs) known |= a == arch;
  if (!known)
    return unavailable("NVRTC " + std::to_string(version_ / 1000) + "." +
                       std::to_string(version_ / 10 % 100) + " does not know sm_" + std::to_string(arch));

  ProgramOwner owner(f.destroy);
  const auto check = [&](int code, const char* what) -> Status {
    if (code == 0) return {};
    return fail(Code::codegen_failed).because(std::string(what) + ": " + f.error_string(code));
  };
  GE_TRY(check(f.create(&owner.program, source.c_str(), "ge_loops.cu", 0, nullptr, nullptr),
               "nvrtcCreateProgram"));
  const std::string arch_flag = "--gpu-architecture=sm_" + std::to_string(arch) + (arch == 90 ? "a" : "");
  std::vector<const char*> flags{arch_flag.c_str(), "--std=c++17",
                                 options.fuse_multiply_add ? "--fmad=true" : "--fmad=false",
                                 "--device-as-default-execution-space"};
  if (options.device_debug_log) flags.push_back("--ptxas-options=-v");
  // NVRTC puts handlers of its own over the program's while it compiles: a Ctrl-C would end the process with
  // another code and leave what the program's handler removes.
  int compiled = 0;
  run_beside_signals(
      [&] { compiled = f.compile(owner.program, static_cast<int>(flags.size()), flags.data()); });

  NvrtcResult result;
  size_t size = 0;
  if (f.log_size(owner.program, &size) == 0 && size > 1) {
    result.log.resize(size);
    f.log(owner.program, result.log.data());
    while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n'))
      result.log.pop_back();
  }
  if (compiled != 0) {
    constexpr size_t kMostLog = 4000;  // the first errors tell
    return fail(Code::codegen_failed)
        .because(std::string(f.error_string(compiled)) + "\n" + result.log.substr(0, kMostLog));
  }
  GE_TRY(check(f.cubin_size(owner.program, &size), "nvrtcGetCUBINSize"));
  result.cubin.resize(size);
  GE_TRY(check(f.cubin(owner.program, reinterpret_cast<char*>(result.cubin.data())), "nvrtcGetCUBIN"));
  if (options.keep_ptx) {
    GE_TRY(check(f.ptx_size(owner.program, &size), "nvrtcGetPTXSize"));
    result.ptx.resize(size);
    GE_TRY(check(f.ptx(owner.program, result.ptx.data()), "nvrtcGetPTX"));
    while (!result.ptx.empty() && result.ptx.back() == '\0') result.ptx.pop_back();
  }
  return result;
}

}  // namespace ge
