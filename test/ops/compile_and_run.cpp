#include "ops/compile_and_run.h"

#include "compiler/run_plan.h"
#include "ge/ge.h"

namespace ge::test {
std::string device_target(const std::string& device) {
  if (device == "cpu") return "cpu";
  return ge_cuda_device_count() > 0 ? "sm_" + std::to_string(ge_cuda_device_arch(0)) : "";
}

Result<std::vector<HostTensor>> compile_and_run(const Graph& graph, const std::vector<HostTensor>& inputs,
                                                const std::string& device, const CompileOptions& base) {
  CompileOptions options = base;
  options.targets = {device_target(device)};
  GE_ASSIGN(Compiled compiled, compile(graph.clone(), options));
  std::vector<std::byte> bytes;
  GE_TRY(compiled.write([&](ByteSpan part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return Status();
  }));
  return run_plan(bytes, inputs, device == "cpu" ? RunDevice::kCpu : RunDevice::kCuda,
                  3);  // direct, recorded, replayed
}

}  // namespace ge::test
