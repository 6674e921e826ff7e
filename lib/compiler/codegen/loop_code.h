// How long a loop's code is on a GPU. Entry: loop_code. A kernel repeats it for every element of a thread,
// and NVRTC takes about 10 ms for a kilobyte, more where functions branch: the printer bounds the one, fusion
// the other. An estimate: it moves no result, only what is one kernel.
#pragma once
#include <cstdint>

#include "contract/bytecode.h"

namespace ge {

// Machine instructions for one element, where every sweep computes again what those before it did. The
// numbers are those of sm_90 by NVRTC 13.0; of functions whose short forms a float16 loop takes, too great.
int64_t loop_code(const LoopProgram& program);

// Of a fused loop, for one element: eight of them in a thread are kMostKernelCode.
inline constexpr int64_t kMostLoopCode = 2048;
// Of a kernel, for all elements of a thread: a quarter of a megabyte, two to three seconds of NVRTC.
inline constexpr int64_t kMostKernelCode = 16384;

}  // namespace ge
