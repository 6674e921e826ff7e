// The layout of the device block: kDeviceBlockBytes at a fixed address, one per session, zeroed when the
// session is made. Entry: the offsets below. Buffers of Region::kDeviceBlock and kernels with
// ArgSource::kDeviceBlock see it.
#pragma once
#include <cstdint>

#include "contract/plan.h"

namespace ge {

inline constexpr int64_t kFaultOffset = 0;  // FaultRecord of kernels/launch_context.h, 16 bytes
inline constexpr int64_t kSeedOffset = 16;  // uint64
inline constexpr int64_t kLoopCountersOffset =
    64;  // int64[kMaxLoopDepth]: iteration number of the loops being run, outermost first
inline constexpr int64_t kMaxLoopDepth = 8;
inline constexpr int64_t kDimsOffset =
    128;  // int64[kMaxBlockDims]: the program's symbols in order, written before a run
inline constexpr int64_t kMaxBlockDims = (kDeviceBlockBytes - kDimsOffset) / 8;

}  // namespace ge
