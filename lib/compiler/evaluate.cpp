#include "compiler/evaluate.h"

#include <memory>

#include "base/checked_math.h"
#include "compiler/pack/pack_program.h"
#include "compiler/select/selection.h"
#include "ge/ge.h"

namespace ge {
namespace {

// Owns a handle of the C interface.
template <class T, void (*Close)(T*)>
struct Handle {
  T* p = nullptr;
  ~Handle() { if (p != nullptr) Close(p); }
};

Status check(ge_error* error) {
  if (error == nullptr) return {};
  Diagnostic d = fail(Code::internal).say(ge_error_message(error));
  if (ge_error_get_kind(error) == GE_ERROR_ENVIRONMENT) d.code = Code::out_of_memory;
  if (ge_error_get_kind(error) == GE_ERROR_USER) d.code = Code::index_out_of_range;
  ge_error_free(error);
  return d;
}

Result<std::vector<std::byte>> reference_plan(const Graph& graph) {
  PlanAssembler assembler;
  assembler.plan.model_name = "reference";
  assembler.plan.made_by = "ge";
  const Target& cpu = *find_target("cpu");
  const ValueViews views(graph);
  GE_ASSIGN(const Selection selection, select(graph, views, cpu, {.reference = true}));
  GE_ASSIGN(Program program, pack_program(graph, views, selection, cpu, {}, assembler));
  assembler.plan.programs.push_back(std::move(program));
  return write_plan_bytes(assembler.plan, assembler.bytes());
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

Result<std::vector<HostTensor>> evaluate(const Graph& original, const std::vector<HostTensor>& inputs,
                                         const std::map<std::string, int64_t>& symbols) {
  Graph graph = original.clone();
  for (auto& [name, range] : graph.symbols)
    if (const auto it = symbols.find(name); it != symbols.end()) range = {it->second, it->second, it->second};
  GE_ASSIGN(const std::vector<std::byte> bytes, reference_plan(graph));
  Handle<ge_device, ge_device_close> device;
  Handle<ge_plan, ge_plan_close> plan;
  Handle<ge_model, ge_model_free> model;
  Handle<ge_session, ge_session_free> session;
  GE_TRY(check(ge_device_open(nullptr, &device.p)));
  GE_TRY(check(ge_plan_open_memory(bytes.data(), bytes.size(), nullptr, &plan.p)));
  GE_TRY(check(ge_model_load(plan.p, device.p, nullptr, &model.p)));
  GE_TRY(check(ge_session_create(model.p, nullptr, &session.p)));
  std::vector<const int64_t*> dims;
  std::vector<int32_t> ranks;
  for (const HostTensor& t : inputs) {
    dims.push_back(t.dims.data());
    ranks.push_back(static_cast<int32_t>(t.dims.size()));
  }
  GE_TRY(check(ge_session_bind_shapes(session.p, dims.data(), ranks.data(), static_cast<int32_t>(inputs.size()))));
  for (size_t i = 0; i < inputs.size(); ++i)
    GE_TRY(check(ge_session_write_input(session.p, static_cast<int32_t>(i), inputs[i].bytes.data(), inputs[i].bytes.size())));
  GE_TRY(check(ge_session_run(session.p)));
  return read_outputs(graph, session.p);
}

}  // namespace

Evaluator reference_evaluator() { return evaluate; }

}  // namespace ge
