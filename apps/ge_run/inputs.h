// Input tensors from their sources: files, generators, values on the command line. Entry: read_sources, then
// fill_inputs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ge_run/generate.h"
#include "ge_run/options.h"
#include "ge_run/runtime.h"

namespace ge {

struct InputSource {
  std::string text;                    // as written, for messages and the report
  bool named = false;                  // on the command line
  std::optional<HostTensor> tensor;    // from a file, or values of known shape: shapes the binding
  std::optional<Generated> generated;  // made after the binding
  std::vector<std::string> values;     // values whose shape the binding decides
};
// The file that a source names, or what --expect names; "" for generators and values.
std::string file_of_source(const std::string& source);
// One per port. Files are read here and their dtypes checked. All faults at once: unknown_input, input_dtype,
// file errors, bad_usage (a source that is no source, an input named twice).
Result<std::vector<InputSource>> read_sources(const RunCommand& command, const std::vector<PortInfo>& ports);
// Binds the session to the shapes that are known and the dims given.
Status bind_session(ge_session* session, const std::vector<InputSource>& sources, const RunCommand& command);
// Makes what is generated and writes every input.
Status fill_inputs(ge_session* session, const std::vector<PortInfo>& ports,
                   std::vector<InputSource>& sources);

}  // namespace ge
