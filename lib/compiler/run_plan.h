// Runs a plan that lies in memory through ge.h, as any user would. Entry: run_plan.
#pragma once
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "tensor_file/host_tensor.h"

namespace ge {

enum class RunDevice : uint8_t { kCpu, kCuda };
// The outputs for these inputs (in order; their shapes give the dims), after `runs` runs: on CUDA the first
// launches directly, the second is recorded, later ones replay. Errors keep their kind: environment, wrong
// input (index_out_of_range), bug.
Result<std::vector<HostTensor>> run_plan(ByteSpan plan, const std::vector<HostTensor>& inputs,
                                         RunDevice device = RunDevice::kCpu, int runs = 1);

}  // namespace ge
