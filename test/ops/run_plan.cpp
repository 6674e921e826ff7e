#include "ops/run_plan.h"

#include "ge/ge.h"

namespace ge::test {
namespace {

template <class T, void (*Close)(T*)>
struct Handle {
  T* p = nullptr;
  ~Handle() { if (p != nullptr) Close(p); }
};

Status check(ge_error* error) {
  if (error == nullptr) return {};
  Diagnostic d = fail(Code::internal).say(std::string(ge_error_code(error)) + ": " + ge_error_message(error));
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
  GE_TRY(check(ge_session_bind_shapes(session, dims.data(), ranks.data(), static_cast<int32_t>(inputs.size()))));
  for (size_t i = 0; i < inputs.size(); ++i)
    GE_TRY(check(ge_session_write_input(session, static_cast<int32_t>(i), inputs[i].bytes.data(), inputs[i].bytes.size())));
  return {};
}

Result<std::vector<HostTensor>> read_outputs(const Graph& graph, ge_session* session) {
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    ge_tensor t{};
    t.size = sizeof t;
    GE_TRY(check(ge_session_output(session, static_cast<int32_t>(i), &t)));
    HostTensor host;
    host.dtype = graph.type(graph.outputs[i]).dtype;
    host.dims.assign(t.dims, t.dims + t.rank);
    host.bytes = ByteBuffer::allocate(t.size_bytes);
    GE_TRY(check(ge_session_read_output(session, static_cast<int32_t>(i), host.bytes.data(), t.size_bytes)));
    outputs.push_back(std::move(host));
  }
  return outputs;
}

}  // namespace

std::string device_target(const std::string& device) {
  if (device == "cpu") return "cpu";
  return ge_cuda_device_count() > 0 ? "sm_" + std::to_string(ge_cuda_device_arch(0)) : "";
}

Result<std::vector<HostTensor>> compile_and_run(const Graph& graph, const std::vector<HostTensor>& inputs, const std::string& device,
                                                const CompileOptions& base) {
  CompileOptions options = base;
  options.targets = {device_target(device)};
  GE_ASSIGN(Compiled compiled, compile(graph.clone(), options));
  std::vector<std::byte> bytes;
  GE_TRY(compiled.write([&](ByteSpan part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return Status();
  }));
  Handle<ge_device, ge_device_close> opened;
  Handle<ge_plan, ge_plan_close> plan;
  Handle<ge_model, ge_model_free> model;
  Handle<ge_session, ge_session_free> session;
  ge_device_options device_options{};
  device_options.size = sizeof device_options;
  device_options.kind = device == "cpu" ? GE_DEVICE_CPU : GE_DEVICE_CUDA;
  GE_TRY(check(ge_device_open(&device_options, &opened.p)));
  GE_TRY(check(ge_plan_open_memory(bytes.data(), bytes.size(), nullptr, &plan.p)));
  GE_TRY(check(ge_model_load(plan.p, opened.p, nullptr, &model.p)));
  GE_TRY(check(ge_session_create(model.p, nullptr, &session.p)));
  GE_TRY(bind_inputs(session.p, inputs));
  for (int run = 0; run < 3; ++run) GE_TRY(check(ge_session_run(session.p)));  // direct, recorded, replayed
  return read_outputs(graph, session.p);
}

}  // namespace ge::test
