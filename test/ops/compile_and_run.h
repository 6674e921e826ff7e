// Compiles a graph in memory and runs it through ge.h, as a user would. Entry: compile_and_run.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "tensor_file/host_tensor.h"

namespace ge::test {

// True where a device of this kind can run here; the target it needs ("cpu", "sm_90"), else "".
std::string device_target(const std::string& device);  // "cpu" | "cuda"
// The outputs on `device` for these inputs. Errors are the compiler's or the runtime's.
Result<std::vector<HostTensor>> compile_and_run(const Graph& graph, const std::vector<HostTensor>& inputs,
                                                const std::string& device, const CompileOptions& options);

}  // namespace ge::test
