// The boundary between the runtime and libge_onednn.so, which it opens at run time where it is there
// (docs/adr/0006). Entry: ge_onednn_module, the library's one exported symbol. Invariant: the module computes
// what the built-in row of that name computes from the same arguments, NaN and all, up to rounding; it may
// refuse any launch, and no exception leaves it.
#pragma once
#include <cstdint>

#include "kernels/launch_context.h"

namespace ge::cpu::onednn {

// Raised whenever this struct or a family's argument struct changes: another number is no module.
inline constexpr uint32_t kAbi = 1;

struct Module {
  uint32_t abi = kAbi;
  const char* version = nullptr;  // "oneDNN 2.6.0"
  // A launch of CPU row `kernel` with these arguments, whose addresses are final; null where the row's own
  // function is to run: what oneDNN does not do as the row says, or not faster. `args` outlives the step.
  void* (*make)(const char* kernel, const void* args, int threads) = nullptr;
  // On the context's threads. False where oneDNN reports a failure: the row's own function must run then.
  bool (*run)(void* step, const LaunchContext& context) = nullptr;
  void (*free)(void* step) = nullptr;
};

}  // namespace ge::cpu::onednn

extern "C" const ge::cpu::onednn::Module* ge_onednn_module();
