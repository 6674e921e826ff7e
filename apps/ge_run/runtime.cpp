#include "ge_run/runtime.h"

#include <charconv>

#include "base/text.h"
#include "document/tree.h"

namespace ge {
namespace {

std::string text_of(Value object, std::string_view key) {
  const auto found = object.find(key);
  return found ? std::string(found->as_string().value_or("")) : std::string();
}

Diagnostic diagnostic_of(Value object) {
  Diagnostic d;
  const std::string code = text_of(object, "code");  // "E0605"
  int number = 0;
  if (code.size() > 1) std::from_chars(code.data() + 1, code.data() + code.size(), number);
  d.code = static_cast<Code>(number);
  d.message = text_of(object, "message");
  d.place = text_of(object, "place");
  d.path = text_of(object, "path");
  d.found = text_of(object, "found");
  d.fix = text_of(object, "fix");
  if (const auto frames = object.find("frames")) {
    for (Value frame : *frames) d.frames.emplace_back(frame.as_string().value_or(""));
  }
  return d;
}

PortInfo info_of(const ge_port& port) {
  return {port.name,     static_cast<DType>(port.dtype), port.rank, port.hint_kind, port.hint_low,
          port.hint_high};
}

using PortCall = ge_error* (*)(const ge_model*, int32_t, ge_port*);
Result<std::vector<PortInfo>> ports_of(const ge_model* model, int32_t count, PortCall call) {
  std::vector<PortInfo> ports;
  for (int32_t i = 0; i < count; ++i) {
    ge_port port{};
    port.size = sizeof port;
    GE_TRY(status_of(call(model, i, &port)));
    ports.push_back(info_of(port));
  }
  return ports;
}

}  // namespace

Status status_of(ge_error* error) {
  if (!error) return {};
  auto document = parse_json(as_bytes(ge_error_json(error)), "error");
  std::vector<Diagnostic> list;
  if (document.ok()) {
    for (Value entry : document->root()) list.push_back(diagnostic_of(entry));
  }
  if (!document.ok() && document.error().kind() == ErrorKind::kEnvironment)
    list.push_back(document.error().first());
  if (list.empty()) list.push_back(fail(Code::internal).because(ge_error_message(error)));
  ge_error_free(error);
  return Error(std::move(list));
}

Result<std::vector<PortInfo>> input_ports(const ge_model* model) {
  return ports_of(model, ge_model_input_count(model), ge_model_input);
}
Result<std::vector<PortInfo>> output_ports(const ge_model* model) {
  return ports_of(model, ge_model_output_count(model), ge_model_output);
}

Result<std::vector<int64_t>> input_dims(ge_session* session, int32_t index) {
  ge_tensor t{};
  t.size = sizeof t;
  GE_TRY(status_of(ge_session_input(session, index, &t)));
  return std::vector<int64_t>(t.dims, t.dims + t.rank);
}

Result<HostTensor> read_output(ge_session* session, int32_t index) {
  ge_tensor t{};
  t.size = sizeof t;
  GE_TRY(status_of(ge_session_output(session, index, &t)));
  GE_ASSIGN(HostTensor tensor, make_host_tensor(static_cast<DType>(t.dtype), {t.dims, t.dims + t.rank}));
  GE_TRY(status_of(ge_session_read_output(session, index, tensor.bytes.data(), tensor.bytes.size())));
  return tensor;
}

Result<int32_t> find_port(const std::vector<PortInfo>& ports, const std::string& name, Code missing) {
  std::vector<std::string> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return static_cast<int32_t>(i);
    names.push_back(ports[i].name);
  }
  Diagnostic d = fail(missing).in(name);
  d.found = "the plan has";
  for (const std::string& has : names) d.found += " " + visible_line(has);
  const std::string near = nearest(name, names);
  if (!near.empty()) d.fix = "did you mean " + near + "?";
  return d;
}

}  // namespace ge
