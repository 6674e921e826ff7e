#include "compiler/run_plan.h"

#include <charconv>
#include <string>

#include "document/tree.h"
#include "ge/ge.h"

namespace ge {
namespace {

// Owns a handle of the C interface.
template <class T, void (*Close)(T*)>
struct Handle {
  T* p = nullptr;
  ~Handle() {
    if (p != nullptr) Close(p);
  }
};

// What the run says of the user's data, with its code and the node it names.
Diagnostic first_fault(const ge_error* error) {
  const std::string code = ge_error_code(error);  // "E0609"
  int number = 0;
  std::from_chars(code.data() + 1, code.data() + code.size(), number);
  Diagnostic d = fail(static_cast<Code>(number));
  const auto document = parse_json(as_bytes(ge_error_json(error)), "error");
  if (!document.ok() || document->root().size() == 0) return std::move(d).say(ge_error_message(error));
  const Value fault = document->root().at(0);
  const auto text = [&](const char* key) {
    const auto member = fault.find(key);
    return member ? std::string(member->as_string().value_or("")) : std::string();
  };
  d.message = text("message");
  d.path = text("path");
  d.found = text("found");
  d.fix = text("fix");
  return d;
}

Status check(ge_error* error) {
  if (error == nullptr) return {};
  Diagnostic d = fail(Code::internal).say(ge_error_message(error));
  if (ge_error_get_kind(error) == GE_ERROR_ENVIRONMENT) d.code = Code::out_of_memory;
  if (ge_error_get_kind(error) == GE_ERROR_USER) d = first_fault(error);
  ge_error_free(error);
  return d;
}

Status bind_inputs(ge_session* session, const std::vector<HostTensor>& inputs) {
  std::vector<const int64_t*> dims;
  std::vector<int32_t> ranks;
  for (const HostTensor& t : inputs) {
    dims.push_back(t.dims.data());
    ranks.push_back(static_cast<int32_t>(t.dims.size()));
  }
  GE_TRY(
      check(ge_session_bind_shapes(session, dims.data(), ranks.data(), static_cast<int32_t>(inputs.size()))));
  for (size_t i = 0; i < inputs.size(); ++i)
    GE_TRY(check(ge_session_write_input(session, static_cast<int32_t>(i), inputs[i].bytes.data(),
                                        inputs[i].bytes.size())));
  return {};
}

Result<HostTensor> read_output(ge_session* session, int32_t index) {
  ge_tensor t{};
  t.size = sizeof t;
  GE_TRY(check(ge_session_output(session, index, &t)));
  HostTensor host{static_cast<DType>(t.dtype), std::vector<int64_t>(t.dims, t.dims + t.rank),
                  ByteBuffer::allocate(t.size_bytes)};
  GE_TRY(check(ge_session_read_output(session, index, host.bytes.data(), t.size_bytes)));
  return host;
}
static_assert(static_cast<int>(DType::float16) == GE_FLOAT16 && static_cast<int>(DType::boolean) == GE_BOOL);

}  // namespace

Result<std::vector<HostTensor>> run_plan(ByteSpan bytes, const std::vector<HostTensor>& inputs,
                                         RunDevice kind, int runs) {
  Handle<ge_device, ge_device_close> device;
  Handle<ge_plan, ge_plan_close> plan;
  Handle<ge_model, ge_model_free> model;
  Handle<ge_session, ge_session_free> session;
  ge_device_options options{};
  options.size = sizeof options;
  options.kind = kind == RunDevice::kCpu ? GE_DEVICE_CPU : GE_DEVICE_CUDA;
  GE_TRY(check(ge_device_open(&options, &device.p)));
  GE_TRY(check(ge_plan_open_memory(bytes.data(), bytes.size(), nullptr, &plan.p)));
  GE_TRY(check(ge_model_load(plan.p, device.p, nullptr, &model.p)));
  GE_TRY(check(ge_session_create(model.p, nullptr, &session.p)));
  GE_TRY(bind_inputs(session.p, inputs));
  for (int i = 0; i < runs; ++i) GE_TRY(check(ge_session_run(session.p)));
  std::vector<HostTensor> outputs;
  for (int32_t i = 0; i < ge_model_output_count(model.p); ++i) {
    GE_ASSIGN(HostTensor t, read_output(session.p, i));
    outputs.push_back(std::move(t));
  }
  return outputs;
}

}  // namespace ge
