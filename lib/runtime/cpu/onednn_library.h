// Opens libge_onednn.so, the optional oneDNN module. Entry: onednn_library. Invariant: opened once a process,
// and only when a launch is large enough to repay it; without the file everything runs on ge's own kernels.
#pragma once
#include <string>

#include "base/status.h"
#include "runtime/cpu/onednn/module.h"

namespace ge::cpu {

// Launches of fewer FLOPs do not open the library: start-up of small models stays what it is.
inline constexpr int64_t kOnednnFlops = 20'000'000;

// Null where it is off or not there. GE_ONEDNN is "off", or the module's file, which then must open
// (library_missing); unset, it is looked for beside the program or library that this code is in, and in the
// lib folder beside that.
Result<const onednn::Module*> onednn_library();
// "oneDNN 2.6.0 (/usr/lib/libge_onednn.so)", or why there is none.
const std::string& onednn_text();

}  // namespace ge::cpu
