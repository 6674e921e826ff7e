// ge.h over the C++ classes: every function is one call and a translation of its arguments.
#include <algorithm>

#include "runtime/c_types.h"
#include "runtime/ceilings.h"

namespace {

using namespace ge;

static_assert(GE_BOOL == static_cast<int>(DType::boolean) && GE_INT64 == static_cast<int>(DType::int64) &&
              GE_FLOAT64 == 0 && GE_FLOAT16 == static_cast<int>(DType::float16) && GE_MAX_RANK == kMaxRank);

Status null_argument(const char* name) {
  return fail(Code::bad_usage).because(std::string(name) + " is NULL");
}

// Makes *out from a Result, or leaves it null.
template <class Handle, class T, class Wrap>
Status finish(Result<T> made, Handle** out, Wrap&& wrap) {
  if (!made.ok()) return std::move(made).take_error();
  *out = wrap(std::move(made).value());
  return {};
}

Status describe_port(const Model& model, bool output, int32_t index, ge_port* out) {
  const Program& program = model.program();
  const std::vector<Port>& ports = output ? program.signature.outputs : program.signature.inputs;
  if (index < 0 || index >= static_cast<int32_t>(ports.size())) {
    return fail(output ? Code::unknown_output : Code::unknown_input)
        .because("number " + std::to_string(index) + " of " + std::to_string(ports.size()));
  }
  const Port& port = ports[static_cast<size_t>(index)];
  ge_port made{};
  made.name = port.name.c_str();
  made.dtype = static_cast<ge_dtype>(port.dtype);
  made.rank = static_cast<int32_t>(port.dims.size());
  for (size_t axis = 0; axis < port.dims.size(); ++axis) {
    const std::string& text = model.dim_text(output, static_cast<size_t>(index), axis);
    made.dims[axis] = text.empty() ? program.exprs.tokens(port.dims[axis]).front().value : -1;
    made.dim_names[axis] = text.empty() ? nullptr : text.c_str();
  }
  made.hint_kind = port.hint.kind.c_str();
  made.hint_low = port.hint.low;
  made.hint_high = port.hint.high;
  return give(made, out);
}

Status give_tensor(Result<PortStorage> storage, ge_tensor* out) {
  if (!storage.ok()) return std::move(storage).take_error();
  ge_tensor made{};
  made.data = storage->data;
  made.size_bytes = static_cast<size_t>(storage->size_bytes);
  made.dtype = static_cast<ge_dtype>(storage->dtype);
  made.rank = static_cast<int32_t>(storage->dims->size());
  std::copy(storage->dims->begin(), storage->dims->end(), made.dims);
  return give(made, out);
}

std::vector<std::pair<std::string, int64_t>> pairs_of(const char* const* names, const int64_t* values,
                                                      int32_t count) {
  std::vector<std::pair<std::string, int64_t>> pairs;
  for (int32_t i = 0; i < count; ++i) pairs.emplace_back(names[i], values[i]);
  return pairs;
}

ge_plan* wrap_plan(std::shared_ptr<PlanHandle> plan) {
  return new ge_plan{std::move(plan)};
}

}  // namespace

extern "C" {

// ---- device ----

ge_error* ge_device_open(const ge_device_options* options, ge_device** out) {
  return guarded([&]() -> Status {
    if (!out) return null_argument("out");
    *out = nullptr;
    const ge_device_options o = take(options);
    return finish(open_device({o.kind == GE_DEVICE_CUDA, o.index, o.threads, o.cuda_context}), out,
                  [](std::unique_ptr<Device> device) { return new ge_device{std::move(device)}; });
  });
}
ge_device_kind ge_device_get_kind(const ge_device* device) {
  return device->device->is_cuda() ? GE_DEVICE_CUDA : GE_DEVICE_CPU;
}
const char* ge_device_name(const ge_device* device) {
  return device->device->name().c_str();
}
const char* ge_device_target(const ge_device* device) {
  return device->device->target().c_str();
}
ge_error* ge_device_measure_ceilings(ge_device* device, ge_ceilings* out) {
  return guarded([&]() -> Status {
    GE_ASSIGN(const Ceilings c, measure_ceilings(*device->device));
    return give(
        ge_ceilings{0, c.gb_per_s, c.launch_us, c.tflop_per_s_f32, c.tflop_per_s_f16, c.tflop_per_s_bf16},
        out);
  });
}
void ge_device_close(ge_device* device) {
  delete device;
}
const char* ge_cpu_library(void) {
  return cpu_library().c_str();
}
int32_t ge_cuda_device_count(void) {
  return cuda_device_count();
}
int32_t ge_cuda_device_arch(int32_t index) {
  return cuda_device_arch(index);
}
ge_error* ge_cuda_available(void) {
  return guarded([] { return cuda_available(); });
}

// ---- plan ----

ge_error* ge_plan_open_file(const char* path, const ge_plan_options* options, ge_plan** out) {
  return guarded([&]() -> Status {
    if (!path || !out) return null_argument(path ? "out" : "path");
    *out = nullptr;
    return finish(PlanHandle::open_file(path, {take(options).trust_builtin_only != 0}), out, wrap_plan);
  });
}
ge_error* ge_plan_open_memory(const void* data, size_t size_bytes, const ge_plan_options* options,
                              ge_plan** out) {
  return guarded([&]() -> Status {
    if (!out || (!data && size_bytes > 0)) return null_argument(out ? "data" : "out");
    *out = nullptr;
    return finish(PlanHandle::open_memory({static_cast<const std::byte*>(data), size_bytes},
                                          {take(options).trust_builtin_only != 0}),
                  out, wrap_plan);
  });
}
void ge_plan_close(ge_plan* plan) {
  delete plan;
}
int32_t ge_plan_target_count(const ge_plan* plan) {
  return static_cast<int32_t>(plan->plan->plan().programs.size());
}
const char* ge_plan_target(const ge_plan* plan, int32_t index) {
  if (index < 0 || index >= ge_plan_target_count(plan)) return nullptr;
  return plan->plan->plan().programs[static_cast<size_t>(index)].target.c_str();
}
int32_t ge_plan_find_target(const ge_plan* plan, const char* target) {
  const auto found = plan->plan->program_for(target);
  return found.ok() ? static_cast<int32_t>(*found) : -1;
}
const char* ge_plan_model_name(const ge_plan* plan) {
  return plan->plan->plan().model_name.c_str();
}
const char* ge_plan_made_by(const ge_plan* plan) {
  return plan->plan->plan().made_by.c_str();
}
ge_error* ge_plan_check(ge_plan* plan, ge_device* device, ge_plan_needs* out) {
  return guarded([&]() -> Status {
    if (!plan || !device) return null_argument(plan ? "device" : "plan");
    GE_ASSIGN(const PlanNeeds needs, Model::check(plan->plan, device->device));
    GE_ASSIGN(const uint32_t program, plan->plan->program_for(device->device->target()));
    ge_plan_needs made{};
    made.target = plan->plan->plan().programs[program].target.c_str();
    made.launches = static_cast<int32_t>(needs.launches);
    made.kernels = static_cast<int32_t>(needs.kernels);
    made.generated_kernels = static_cast<int32_t>(needs.generated_kernels);
    made.uses_library = needs.uses_library;
    made.weights_bytes = static_cast<uint64_t>(needs.weights_bytes);
    made.prepared_bytes = static_cast<uint64_t>(needs.prepared_bytes);
    made.arena_bytes = static_cast<uint64_t>(needs.arena_bytes);
    made.io_bytes = static_cast<uint64_t>(needs.io_bytes);
    made.free_bytes = static_cast<uint64_t>(needs.free_bytes);
    return give(made, out);
  });
}

// ---- model ----

ge_error* ge_model_load(ge_plan* plan, ge_device* device, const ge_model_options*, ge_model** out) {
  return guarded([&]() -> Status {
    if (!plan || !device || !out) return null_argument(!plan ? "plan" : !device ? "device" : "out");
    *out = nullptr;
    return finish(Model::load(plan->plan, device->device), out,
                  [](std::shared_ptr<Model> model) { return new ge_model{std::move(model)}; });
  });
}
void ge_model_free(ge_model* model) {
  delete model;
}
int32_t ge_model_input_count(const ge_model* model) {
  return static_cast<int32_t>(model->model->program().signature.inputs.size());
}
int32_t ge_model_output_count(const ge_model* model) {
  return static_cast<int32_t>(model->model->program().signature.outputs.size());
}
ge_error* ge_model_input(const ge_model* model, int32_t index, ge_port* out) {
  return guarded([&] { return describe_port(*model->model, false, index, out); });
}
ge_error* ge_model_output(const ge_model* model, int32_t index, ge_port* out) {
  return guarded([&] { return describe_port(*model->model, true, index, out); });
}
int32_t ge_model_symbol_count(const ge_model* model) {
  return static_cast<int32_t>(model->model->program().symbols.size());
}
ge_error* ge_model_symbol(const ge_model* model, int32_t index, ge_symbol* out) {
  return guarded([&]() -> Status {
    const auto& symbols = model->model->program().symbols;
    if (index < 0 || index >= static_cast<int32_t>(symbols.size()))
      return fail(Code::unknown_symbol).because("number " + std::to_string(index));
    const Symbol& symbol = symbols[static_cast<size_t>(index)];
    return give(ge_symbol{0, symbol.name.c_str(), symbol.min, symbol.max, symbol.opt}, out);
  });
}
size_t ge_model_weights_bytes(const ge_model* model) {
  return static_cast<size_t>(model->model->weights_bytes() + model->model->prepared_bytes());
}

// ---- session ----

ge_error* ge_session_create(ge_model* model, const ge_session_options* options, ge_session** out) {
  return guarded([&]() -> Status {
    if (!model || !out) return null_argument(model ? "out" : "model");
    *out = nullptr;
    const ge_session_options o = take(options);
    return finish(Session::create(model->model, {o.cuda_stream, o.no_graph != 0}), out,
                  [](std::unique_ptr<Session> session) { return new ge_session{std::move(session)}; });
  });
}
void ge_session_free(ge_session* session) {
  delete session;
}
ge_error* ge_session_bind(ge_session* session, const char* const* names, const int64_t* values,
                          int32_t count) {
  return guarded([&] { return session->session->bind(pairs_of(names, values, count)); });
}
ge_error* ge_session_bind_shapes(ge_session* session, const int64_t* const* dims, const int32_t* ranks,
                                 int32_t count) {
  return ge_session_bind_known(session, dims, ranks, count, nullptr, nullptr, 0);
}
ge_error* ge_session_bind_known(ge_session* session, const int64_t* const* dims, const int32_t* ranks,
                                int32_t count, const char* const* names, const int64_t* values,
                                int32_t name_count) {
  return guarded([&] {
    std::vector<std::vector<int64_t>> shapes;
    for (int32_t i = 0; i < count; ++i) {
      if (ranks[i] < 0) {
        shapes.push_back(unknown_shape());
      } else {
        shapes.emplace_back(dims[i], dims[i] + ranks[i]);
      }
    }
    return session->session->bind_shapes(shapes, pairs_of(names, values, name_count));
  });
}
ge_error* ge_session_input(ge_session* session, int32_t index, ge_tensor* out) {
  return guarded([&] { return give_tensor(session->session->input(index), out); });
}
ge_error* ge_session_output(ge_session* session, int32_t index, ge_tensor* out) {
  return guarded([&] { return give_tensor(session->session->output(index), out); });
}
ge_error* ge_session_write_input(ge_session* session, int32_t index, const void* data, size_t size_bytes) {
  return guarded(
      [&] { return session->session->write_input(index, data, static_cast<int64_t>(size_bytes)); });
}
ge_error* ge_session_read_output(ge_session* session, int32_t index, void* data, size_t size_bytes) {
  return guarded(
      [&] { return session->session->read_output(index, data, static_cast<int64_t>(size_bytes)); });
}
ge_error* ge_session_run(ge_session* session) {
  return guarded([&] { return session->session->run(); });
}
ge_error* ge_session_run_async(ge_session* session) {
  return guarded([&] { return session->session->run_async(); });
}
ge_error* ge_session_wait(ge_session* session) {
  return guarded([&] { return session->session->wait(); });
}
size_t ge_session_arena_bytes(const ge_session* session) {
  return static_cast<size_t>(session->session->arena_bytes());
}

// ---- profile, time, start-up ----

ge_error* ge_session_profile(ge_session* session, int32_t iterations, int32_t* out_count) {
  return guarded([&]() -> Status {
    GE_TRY(session->session->profile(iterations));
    if (out_count) *out_count = static_cast<int32_t>(session->session->profile_entries().size());
    return {};
  });
}
ge_error* ge_session_profile_entry(ge_session* session, int32_t index, ge_launch_profile* out) {
  return guarded([&]() -> Status {
    const auto& entries = session->session->profile_entries();
    if (index < 0 || index >= static_cast<int32_t>(entries.size()))
      return fail(Code::bad_usage).because("no profile entry " + std::to_string(index));
    const LaunchProfile& e = entries[static_cast<size_t>(index)];
    return give(ge_launch_profile{0, e.kernel.c_str(), e.source_nodes.c_str(), e.time_us, e.flops, e.bytes,
                                  static_cast<ge_dtype>(e.dtype)},
                out);
  });
}
ge_error* ge_session_time(ge_session* session, const ge_timing_options* options, double* device_us,
                          double* host_us) {
  return guarded([&]() -> Status {
    if (!options) return null_argument("options");
    const ge_timing_options o = take(options);
    return session->session->time({o.warmup, o.iterations, o.cold != 0}, device_us, host_us);
  });
}
ge_error* ge_session_startup(const ge_session* session, ge_startup* out) {
  return guarded([&] {
    const Session& s = *session->session;
    const LoadTimes& load = s.model().times();
    return give(ge_startup{0, s.model().device().open_us(), s.model().plan_handle().read_us(), load.verify_us,
                           load.weights_us, load.code_us, load.prepare_us, s.bind_us(), s.first_run_us()},
                out);
  });
}
}
