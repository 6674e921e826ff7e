// Distributions build oneDNN over OpenMP, whose threads would compete with ge's. Each call is therefore kept
// to the thread that makes it: OpenMP's thread count is a setting of the calling thread, 1 for the time of
// the call.
#include "runtime/cpu/onednn/one_thread.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl_config.h>

#include <initializer_list>

namespace ge::cpu::onednn {
namespace {

struct OpenMp {
  void (*set_num_threads)(int) = nullptr;
  int (*get_max_threads)() = nullptr;
};

// The OpenMP that oneDNN itself has loaded: another one's setting would mean nothing to it.
OpenMp find_openmp() {
  OpenMp found;
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"}) {
    void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    found.set_num_threads = reinterpret_cast<void (*)(int)>(::dlsym(library, "omp_set_num_threads"));
    found.get_max_threads = reinterpret_cast<int (*)()>(::dlsym(library, "omp_get_max_threads"));
    if (found.set_num_threads != nullptr && found.get_max_threads != nullptr) return found;
  }
#endif
  return found;
}

const OpenMp& openmp() {
  static const OpenMp found = find_openmp();
  return found;
}

}  // namespace

OneThread::OneThread() {
  if (openmp().set_num_threads == nullptr) return;
  former_ = openmp().get_max_threads();
  if (former_ != 1) openmp().set_num_threads(1);
}
OneThread::~OneThread() {
  if (former_ > 1) openmp().set_num_threads(former_);
}

bool can_run_on_one_thread() {
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  return openmp().set_num_threads != nullptr;
#else
  return DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_SEQ;
#endif
}

}  // namespace ge::cpu::onednn
