#include "ge_run/outputs.h"

#include <unistd.h>

#include <algorithm>

#include "common/overwrite.h"
#include "ge_run/inputs.h"
#include "platform/file.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

namespace ge {
namespace {

bool is_safetensors(const std::string& file) {
  const std::string_view end = ".safetensors";
  return file.size() >= end.size() && file.compare(file.size() - end.size(), end.size(), end) == 0;
}

// A name as a file's: what a path would read differently becomes '_'.
std::string file_name(const std::string& name) {
  std::string text = name;
  std::replace(text.begin(), text.end(), '/', '_');
  if (text.empty() || text == "." || text == "..") text = "_" + text;
  return text + ".npy";
}

std::vector<int32_t> all_of(size_t count) {
  std::vector<int32_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<int32_t>(i);
  return all;
}

Status add_destinations(const std::string& name, const std::string& file, const std::vector<PortInfo>& ports,
                        std::vector<Destination>& into) {
  std::vector<int32_t> outputs = all_of(ports.size());
  if (!name.empty()) {
    GE_ASSIGN(const int32_t index, find_port(ports, name, Code::unknown_output));
    outputs = {index};
  }
  if (file.back() == '/') {
    for (int32_t i : outputs) into.push_back({{i}, file + file_name(ports[static_cast<size_t>(i)].name)});
    return {};
  }
  if (outputs.size() != 1 && !is_safetensors(file)) {
    return fail(Code::bad_usage)
        .because("the plan has " + std::to_string(ports.size()) + " outputs, " + file + " holds one")
        .try_("-o " + (ports.empty() ? std::string("NAME") : ports[0].name) + "=" + file +
              ", or -o DIR/ for all of them");
  }
  into.push_back({std::move(outputs), file});
  return {};
}

std::vector<FileRead> files_read(const RunCommand& command) {
  std::vector<FileRead> files{{command.plan, "the plan"}};
  for (const auto& [name, source] : command.inputs) files.push_back({file_of_source(source), "-i " + name});
  for (const auto& [name, source] : command.expected) {
    const std::string file = file_of_source(source);
    files.push_back({file.empty() ? source : file, "--expect " + name});
  }
  return files;
}

Status write_destination(const Destination& d, const std::vector<PortInfo>& ports,
                         const std::vector<HostTensor>& tensors) {
  if (d.file == kStandardOutput) {
    GE_ASSIGN(const ByteBuffer bytes, write_npy(span_of(tensors[static_cast<size_t>(d.outputs[0])])));
    return write_stdout(bytes.span());
  }
  if (!is_safetensors(d.file))
    return write_npy_file(d.file, span_of(tensors[static_cast<size_t>(d.outputs[0])]));
  std::vector<NamedTensor> named;
  for (int32_t i : d.outputs)
    named.push_back({ports[static_cast<size_t>(i)].name, span_of(tensors[static_cast<size_t>(i)])});
  GE_ASSIGN(const ByteBuffer bytes, write_safetensors(named));
  return write_file(d.file, bytes.span());
}

}  // namespace

Result<std::vector<Destination>> plan_outputs(const RunCommand& command, const std::vector<PortInfo>& ports) {
  std::vector<Destination> destinations;
  ErrorList errors;
  for (const auto& [name, file] : command.outputs) {
    Status status = add_destinations(name, file, ports, destinations);
    if (!status.ok()) errors.add(std::move(status).take_error());
  }
  std::vector<std::string> written;
  for (const Destination& d : destinations) written.push_back(d.file);
  if (!command.trace.empty()) written.push_back(command.trace);
  check_places(written, files_read(command), errors);
  const bool to_stdout = std::find(written.begin(), written.end(), kStandardOutput) != written.end();
  if (to_stdout && isatty(STDOUT_FILENO) == 1)
    errors.add(fail(Code::bad_usage)
                   .say("a tensor is binary: it is not written to a terminal")
                   .try_("-o FILE.npy, or redirect standard output"));
  GE_TRY(errors.take());
  return destinations;
}

Status write_outputs(const std::vector<Destination>& destinations, const std::vector<PortInfo>& ports,
                     const std::vector<HostTensor>& tensors) {
  for (const Destination& d : destinations) GE_TRY(write_destination(d, ports, tensors));
  return {};
}

Status make_output_folders(const RunCommand& command) {
  for (const auto& [name, file] : command.outputs) {
    if (const std::string folder = folder_of(file); file.back() == '/' && !folder.empty())
      GE_TRY(make_folder(folder));
  }
  return {};
}

}  // namespace ge
