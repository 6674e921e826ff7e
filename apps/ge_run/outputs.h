// Where results go. Entry: plan_outputs, write_outputs. Every destination is known before anything runs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ge_run/options.h"
#include "ge_run/runtime.h"

namespace ge {

struct Destination {
  std::vector<int32_t> outputs;  // one for npy; one or more for safetensors
  std::string file;
};
inline constexpr const char* kStandardOutput = "-";  // as a file: npy bytes

// Errors: unknown_output, bad_usage (a file without a name where there are several outputs, one file for two
// outputs, a file that the run reads, bytes for a terminal).
Result<std::vector<Destination>> plan_outputs(const RunCommand& command, const std::vector<PortInfo>& ports);
// Makes the folders of "DIR/" (the last part of the path alone). file_unwritable.
Status make_output_folders(const RunCommand& command);
// Each file appears whole or not at all. Errors: file_unwritable, unsupported_feature.
Status write_outputs(const std::vector<Destination>& destinations, const std::vector<PortInfo>& ports,
                     const std::vector<HostTensor>& tensors);

}  // namespace ge
