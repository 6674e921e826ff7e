#include "ge_run/inputs.h"

#include <charconv>
#include <cmath>

#include "numeric/convert.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

namespace ge {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// "w.safetensors:tensor" -> file and tensor.
std::optional<std::pair<std::string, std::string>> split_safetensors(const std::string& text) {
  const std::string mark = ".safetensors:";
  const size_t at = text.find(mark);
  if (at == std::string::npos || at + mark.size() == text.size()) return std::nullopt;
  return std::pair(text.substr(0, at + mark.size() - 1), text.substr(at + mark.size()));
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    const size_t comma = text.find(',', from);
    parts.push_back(text.substr(from, comma - from));
    if (comma == std::string::npos) return parts;
    from = comma + 1;
  }
}

// One value into an element. False: it is no value of that dtype.
bool store_value(const std::string& text, HostTensor& tensor, int64_t index) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (begin != end && *begin == '+') ++begin;
  if (is_bool(tensor.dtype) && (text == "true" || text == "false")) {
    store_from_int64(tensor.dtype, tensor.bytes.data(), index, text == "true");
    return true;
  }
  if (tensor.dtype == DType::uint64) {
    uint64_t value = 0;
    const auto parsed = std::from_chars(begin, end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    store_from_uint64(tensor.dtype, tensor.bytes.data(), index, value);
    return true;
  }
  if (!is_float(tensor.dtype)) {
    int64_t value = 0;
    const auto parsed = std::from_chars(begin, end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    store_from_int64(tensor.dtype, tensor.bytes.data(), index, value);
    return load_as_int64(tensor.dtype, tensor.bytes.data(), index) == value;
  }
  double value = 0;
  const auto parsed = std::from_chars(begin, end, value);  // also inf and nan
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  store_from_double(tensor.dtype, tensor.bytes.data(), index, value);
  return true;
}

Result<HostTensor> tensor_of_values(const std::vector<std::string>& values, const PortInfo& port,
                                    std::vector<int64_t> dims) {
  GE_ASSIGN(HostTensor tensor, make_host_tensor(port.dtype, std::move(dims)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (store_value(values[i], tensor, static_cast<int64_t>(i))) continue;
    return fail(Code::bad_usage)
        .in(port.name)
        .because("\"" + values[i] + "\" is no " + std::string(name_of(port.dtype)) +
                 " value, and no file or generator")
        .try_("x.npy, w.safetensors:tensor, random[:SEED], zeros, ones, iota, or values 1,2,3");
  }
  return tensor;
}

Result<HostTensor> read_file_source(const std::string& source) {
  if (const auto parts = split_safetensors(source)) {
    GE_ASSIGN(const SafetensorsFile file, SafetensorsFile::open_path(parts->first));
    return file.read(parts->second);
  }
  return read_npy_file(source);
}

Status check_dtype(const HostTensor& tensor, const PortInfo& port, const std::string& source) {
  if (tensor.dtype == port.dtype) return {};
  return fail(Code::input_dtype)
      .at(source)
      .in(port.name)
      .because("found " + std::string(name_of(tensor.dtype)) + ", the plan takes " +
               std::string(name_of(port.dtype)))
      .try_("convert the file");
}

bool is_file_source(const std::string& source) {
  return ends_with(source, ".npy") || split_safetensors(source) || source.find('/') != std::string::npos;
}

Status read_source(const std::string& text, const PortInfo& port, InputSource& into) {
  into.text = text;
  into.named = true;
  GE_ASSIGN(into.generated, parse_generated(text));
  if (into.generated) return {};
  if (is_file_source(text)) {
    GE_ASSIGN(HostTensor tensor, read_file_source(text));
    GE_TRY(check_dtype(tensor, port, text));
    into.tensor = std::move(tensor);
    return {};
  }
  into.values = split_commas(text);
  if (port.rank > 1) {  // the shape comes later; the values themselves are looked at now
    auto flat = tensor_of_values(into.values, port, {static_cast<int64_t>(into.values.size())});
    return flat.ok() ? Status() : Status(std::move(flat).take_error());
  }
  std::vector<int64_t> dims;
  if (port.rank == 1) dims.push_back(static_cast<int64_t>(into.values.size()));
  if (port.rank == 0 && into.values.size() != 1) {
    return fail(Code::input_shape)
        .in(port.name)
        .because(std::to_string(into.values.size()) + " values for a scalar");
  }
  GE_ASSIGN(HostTensor tensor, tensor_of_values(into.values, port, dims));
  into.tensor = std::move(tensor);
  return {};
}

}  // namespace

std::string file_of_source(const std::string& source) {
  if (const auto parts = split_safetensors(source)) return parts->first;
  return is_file_source(source) ? source : "";
}

Result<std::vector<InputSource>> read_sources(const RunCommand& command, const std::vector<PortInfo>& ports) {
  std::vector<InputSource> sources(ports.size());
  for (InputSource& source : sources) source = {"random:0", false, std::nullopt, Generated{}, {}};
  ErrorList errors;
  for (const auto& [name, text] : command.inputs) {
    auto index = find_port(ports, name, Code::unknown_input);
    if (!index.ok()) {
      errors.add(std::move(index).take_error());
      continue;
    }
    InputSource& source = sources[static_cast<size_t>(*index)];
    if (source.named) {
      errors.add(fail(Code::bad_usage).in(name).because("the input is named twice"));
      continue;
    }
    Status status = read_source(text, ports[static_cast<size_t>(*index)], source);
    if (!status.ok()) errors.add(std::move(status).take_error());
  }
  GE_TRY(errors.take());
  return sources;
}

Status bind_session(ge_session* session, const std::vector<InputSource>& sources, const RunCommand& command) {
  std::vector<const int64_t*> dims;
  std::vector<int32_t> ranks;
  for (const InputSource& source : sources) {
    dims.push_back(source.tensor ? source.tensor->dims.data() : nullptr);
    ranks.push_back(source.tensor ? static_cast<int32_t>(source.tensor->dims.size()) : -1);
  }
  std::vector<const char*> names;
  std::vector<int64_t> values;
  for (const auto& [name, value] : command.dims) {
    names.push_back(name.c_str());
    values.push_back(value);
  }
  return status_of(ge_session_bind_known(session, dims.data(), ranks.data(),
                                         static_cast<int32_t>(dims.size()), names.data(), values.data(),
                                         static_cast<int32_t>(names.size())));
}

Status fill_inputs(ge_session* session, const std::vector<PortInfo>& ports,
                   std::vector<InputSource>& sources) {
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    InputSource& source = sources[i];
    GE_ASSIGN(const std::vector<int64_t> dims, input_dims(session, index));
    if (source.generated) {
      GE_ASSIGN(source.tensor, generate(*source.generated, ports[i], dims));
    } else if (!source.tensor) {
      if (element_count(dims) != static_cast<int64_t>(source.values.size())) {
        return fail(Code::input_shape)
            .in(ports[i].name)
            .because(std::to_string(source.values.size()) + " values; the input is " + dims_to_string(dims));
      }
      GE_ASSIGN(source.tensor, tensor_of_values(source.values, ports[i], dims));
    }
    GE_TRY(status_of(
        ge_session_write_input(session, index, source.tensor->bytes.data(), source.tensor->bytes.size())));
    if (source.generated) source.tensor.reset();
  }
  return {};
}

}  // namespace ge
