#include "runtime/session.h"

#include <algorithm>

#include "base/checked_math.h"
#include "contract/device_block.h"
#include "contract/source_nodes.h"
#include "platform/clock.h"
#include "runtime/cache_sweep.h"

namespace ge {
namespace {

constexpr size_t kMaxBindings = 32;

double elapsed_us(int64_t since_ns) {
  return static_cast<double>(monotonic_ns() - since_ns) / 1000;
}

bool sees_device_block(const Model& model) {
  const Program& program = model.program();
  bool sees = std::any_of(program.buffers.begin(), program.buffers.end(),
                          [](const Buffer& b) { return b.region == Region::kDeviceBlock; });
  for_each_launch(program, [&](const Launch& launch) {
    for (const Choice& choice : launch.choices) {
      const KernelDesc* desc = model.kernels().entries[choice.kernel].desc;
      if (!desc) desc = &model.plan().kernels[choice.kernel].generated.front();
      for (const ArgDesc& arg : desc->args) sees |= arg.source == ArgSource::kDeviceBlock;
    }
  });
  return sees;
}

std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<Model> model, const StreamOptions& options) {
  auto session = std::unique_ptr<Session>(new Session(std::move(model)));
  Device& device = session->model_->device();
  const CurrentDevice current(device);
  GE_ASSIGN(session->stream_, device.create_stream(options));
  GE_ASSIGN(session->arena_, device.create_memory());
  GE_ASSIGN(session->host_, device.create_host_memory());
  const auto& buffers = session->model_->program().buffers;
  session->port_memory_.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool port = buffers[i].region == Region::kInput || buffers[i].region == Region::kOutput;
    if (port && buffers[i].alias_of == kNoBuffer) {
      GE_ASSIGN(session->port_memory_[i], device.create_memory());
    }
  }
  session->block_has_dims_ = sees_device_block(*session->model_);
  return session;
}

Session::~Session() {
  const CurrentDevice current(model_->device());
  if (stream_) static_cast<void>(stream_->wait());  // nothing of what is freed may still be in use
  bindings_.clear();
  port_memory_.clear();
  host_.reset();
  arena_.reset();
  stream_.reset();
}

Result<std::vector<GivenSymbol>> Session::find_symbols(
    std::span<const std::pair<std::string, int64_t>> values) const {
  const Program& program = model_->program();
  std::vector<std::string> names;
  for (const Symbol& symbol : program.symbols) names.push_back(symbol.name);
  std::vector<GivenSymbol> found;
  ErrorList errors;
  for (const auto& [name, value] : values) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end()) {
      found.push_back({static_cast<size_t>(at - names.begin()), value});
      continue;
    }
    const std::string near = nearest(name, names);
    Diagnostic d = fail(Code::unknown_symbol).in(name);
    d.found = names.empty() ? "the plan has no symbolic dims" : "the plan has";
    for (const std::string& has : names) d.found += " " + has;
    if (!near.empty()) d.fix = "did you mean " + near + "?";
    errors.add(std::move(d));
  }
  GE_TRY(errors.take());
  return found;
}

Status Session::bind(std::span<const std::pair<std::string, int64_t>> values) {
  const Program& program = model_->program();
  std::vector<int64_t> symbols = current_ ? current_->binding().symbols : optimal_symbols(program);
  GE_ASSIGN(const std::vector<GivenSymbol> given, find_symbols(values));
  for (const GivenSymbol& g : given) symbols[g.symbol] = g.value;
  GE_TRY(check_symbol_ranges(program, symbols));
  return switch_to(symbols, false);
}

Status Session::bind_shapes(std::span<const std::vector<int64_t>> shapes,
                            std::span<const std::pair<std::string, int64_t>> values) {
  GE_ASSIGN(const std::vector<GivenSymbol> given, find_symbols(values));
  GE_ASSIGN(const std::vector<int64_t> symbols, solve_symbols(model_->program(), shapes, given));
  return switch_to(symbols, false);
}

PreparedBinding* Session::cached(std::span<const int64_t> symbols) {
  const auto same = [&](const auto& b) {
    return std::equal(symbols.begin(), symbols.end(), b->binding().symbols.begin(),
                      b->binding().symbols.end());
  };
  const auto at = std::find_if(bindings_.begin(), bindings_.end(), same);
  if (at == bindings_.end()) return nullptr;
  std::rotate(bindings_.begin(), at, at + 1);
  return bindings_.front().get();
}

// Makes the binding for `symbols` current: one of the latest, or a new one.
Status Session::switch_to(std::span<const int64_t> symbols, bool during_run) {
  if (current_ && std::equal(symbols.begin(), symbols.end(), current_->binding().symbols.begin(),
                             current_->binding().symbols.end()))
    return {};
  const CurrentDevice device(model_->device());
  const int64_t began = monotonic_ns();
  if (PreparedBinding* found = cached(symbols)) {
    current_ = found;
  } else {
    GE_ASSIGN(Binding binding, ge::bind(model_->plan(), model_->kernels(), model_->program_index(), symbols,
                                        model_->device().limits()));
    if (during_run) GE_TRY(same_layout(binding));
    bool moved = false;
    const Status grown = grow_storage(binding, during_run, moved);
    if (moved) {  // older bindings hold addresses that are gone
      bindings_.clear();
      current_ = nullptr;
    }
    if (!grown.ok()) return Error(grown.error());
    BufferAddresses where = addresses(binding);
    GE_ASSIGN(auto made,
              PreparedBinding::make(*model_, std::move(binding), std::move(where), *stream_, false));
    bindings_.insert(bindings_.begin(), std::move(made));
    current_ = bindings_.front().get();
    if (bindings_.size() > kMaxBindings) {
      GE_TRY(stream_->wait());
      bindings_.pop_back();
    }
  }
  if (block_has_dims_) {
    const auto count = std::min<size_t>(symbols.size(), kMaxBlockDims);
    GE_TRY(stream_->write(static_cast<std::byte*>(stream_->device_block()) + kDimsOffset, symbols.data(),
                          static_cast<int64_t>(count) * 8));
  }
  if (bind_us_ == 0) bind_us_ = elapsed_us(began);
  return {};
}

Status Session::rebind(std::span<const int64_t> symbols) {
  return switch_to(symbols, true);
}

// Values that live across a ReadDims must stay where they are.
Status Session::same_layout(const Binding& binding) const {
  const auto& before = current_->binding().buffers;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].offset_bytes == binding.buffers[i].offset_bytes &&
        before[i].size_bytes == binding.buffers[i].size_bytes)
      continue;
    return fail(Code::plan_malformed)
        .in(model_->program().buffers[i].name)
        .because("its storage depends on a dim that is read during the run");
  }
  return {};
}

// `moved`: some base address changed, also where growing failed later on.
Status Session::grow_storage(const Binding& binding, bool during_run, bool& moved) {
  bool waited = false;
  const auto grow = [&](Memory& memory, int64_t size_bytes) -> Status {
    if (memory.base() && size_bytes <= memory.size_bytes()) return {};
    if (during_run) return fail(Code::plan_malformed).because("storage would move during a run");
    if (!waited) GE_TRY(stream_->wait());
    waited = true;
    const std::byte* before = memory.base();
    Status grown = memory.grow(size_bytes);
    moved |= memory.base() != before;
    return grown;
  };
  int64_t host_bytes = 0;
  const auto& buffers = model_->program().buffers;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (port_memory_[i]) GE_TRY(grow(*port_memory_[i], binding.buffers[i].size_bytes));
    if (buffers[i].region == Region::kHost)
      host_bytes += align_up(binding.buffers[i].size_bytes, kBufferAlignment);
  }
  if (host_bytes > 0) GE_TRY(grow(*host_, host_bytes));
  if (binding.arena_bytes > 0) GE_TRY(grow(*arena_, binding.arena_bytes));
  return {};
}

BufferAddresses Session::addresses(const Binding& binding) const {
  const auto& buffers = model_->program().buffers;
  BufferAddresses at(buffers.size(), nullptr);
  int64_t host_offset = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    switch (buffers[i].region) {
      case Region::kInput:
      case Region::kOutput:
        if (port_memory_[i]) at[i] = port_memory_[i]->base();
        break;
      case Region::kWeights:
        at[i] = model_->blob_address(buffers[i].blob);
        break;
      case Region::kPrepared:
        at[i] = model_->prepared_base() + binding.buffers[i].offset_bytes;
        break;
      case Region::kArena:
        at[i] = arena_->base() + binding.buffers[i].offset_bytes;
        break;
      case Region::kDeviceBlock:
        at[i] = static_cast<std::byte*>(stream_->device_block());
        break;
      case Region::kHost:
        at[i] = host_->base() + host_offset;
        host_offset += align_up(binding.buffers[i].size_bytes, kBufferAlignment);
        break;
    }
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].alias_of != kNoBuffer) at[i] = at[buffers[i].alias_of];
  }
  return at;
}

Status Session::need_binding() const {
  if (current_) return {};
  return fail(Code::bad_usage)
      .because("the session has no dims yet")
      .try_("call ge_session_bind or ge_session_bind_shapes first");
}

Result<PortStorage> Session::port(const std::vector<BoundPort>& bound, const std::vector<Port>& ports,
                                  int64_t index, Code missing) const {
  if (index < 0 || index >= static_cast<int64_t>(ports.size())) {
    return fail(missing).because("number " + std::to_string(index) + "; there are " +
                                 std::to_string(ports.size()));
  }
  const auto i = static_cast<size_t>(index);
  const Buffer& buffer = model_->program().buffers[bound[i].buffer];
  const uint32_t owner = buffer.alias_of == kNoBuffer ? bound[i].buffer : buffer.alias_of;
  return PortStorage{port_memory_[owner]->base(), bound[i].size_bytes, ports[i].dtype, &bound[i].dims};
}

Result<PortStorage> Session::input(int64_t index) const {
  GE_TRY(need_binding());
  return port(current_->binding().inputs, model_->program().signature.inputs, index, Code::unknown_input);
}

Result<PortStorage> Session::output(int64_t index) const {
  GE_TRY(need_binding());
  return port(current_->binding().outputs, model_->program().signature.outputs, index, Code::unknown_output);
}

Status Session::write_input(int64_t index, const void* data, int64_t size_bytes) {
  GE_ASSIGN(const PortStorage to, input(index));
  if (size_bytes != to.size_bytes) {
    return fail(Code::input_shape)
        .in(names_of(model_->program().signature.inputs)[static_cast<size_t>(index)])
        .because(std::to_string(size_bytes) + " bytes were given; " + std::string(name_of(to.dtype)) +
                 dims_text(*to.dims) + " is " + std::to_string(to.size_bytes));
  }
  const CurrentDevice device(model_->device());
  GE_TRY(stream_->write(to.data, data, size_bytes));
  return stream_->wait();  // the caller may reuse its memory
}

Status Session::read_output(int64_t index, void* data, int64_t size_bytes) {
  GE_ASSIGN(const PortStorage from, output(index));
  if (size_bytes != from.size_bytes) {
    return fail(Code::bad_usage)
        .in(names_of(model_->program().signature.outputs)[static_cast<size_t>(index)])
        .because("room for " + std::to_string(size_bytes) + " bytes; " + std::string(name_of(from.dtype)) +
                 dims_text(*from.dims) + " is " + std::to_string(from.size_bytes));
  }
  const CurrentDevice device(model_->device());
  return stream_->read(data, from.data, size_bytes);
}

Status Session::start_run() {
  GE_TRY(need_binding());
  return BlockRunner(model_->program(), *stream_, *this).run();
}

Status Session::run_async() {
  const CurrentDevice device(model_->device());
  return start_run();
}

Status Session::wait() {
  const CurrentDevice device(model_->device());
  GE_TRY(stream_->wait());
  return raise_fault();
}

Status Session::run() {
  const CurrentDevice device(model_->device());
  const int64_t began = ran_ ? 0 : monotonic_ns();
  GE_TRY(start_run());
  GE_TRY(stream_->wait());
  if (!ran_) first_run_us_ = elapsed_us(began);
  ran_ = true;
  return raise_fault();
}

Status Session::raise_fault() {
  GE_ASSIGN(const FaultRecord fault, stream_->take_fault());
  if (fault.kind == 0) return {};
  const Step* step = find_step(model_->program(), false, fault.launch);
  Diagnostic d = fail(Code::index_out_of_range);
  if (step) d.path = join_nodes(source_nodes(*step));
  d.found = "index " + std::to_string(fault.value);
  d.fix = "check the values of the inputs that are indices";
  return d;
}

Status Session::time(const TimingOptions& options, double* device_us, double* host_us) {
  GE_TRY(need_binding());
  const CurrentDevice device(model_->device());
  CacheSweep sweep;
  if (options.cold) GE_TRY(sweep.prepare(model_->device(), *stream_));
  for (int32_t i = 0; i < options.warmup; ++i) GE_TRY(run());
  for (int32_t i = 0; i < options.iterations; ++i) {
    if (options.cold) GE_TRY(sweep.enqueue(*stream_));
    const int64_t began = monotonic_ns();
    if (device_us) GE_TRY(stream_->mark(false));
    GE_TRY(start_run());
    if (device_us) GE_TRY(stream_->mark(true));
    GE_TRY(stream_->wait());
    if (host_us) host_us[i] = elapsed_us(began);
    if (device_us) {
      GE_ASSIGN(device_us[i], stream_->marked_us());
    }
    GE_TRY(raise_fault());
  }
  return {};
}

Status Session::profile(int32_t iterations) {
  GE_TRY(need_binding());
  const CurrentDevice device(model_->device());
  std::vector<StepTimes> runs(static_cast<size_t>(std::max(iterations, 1)),
                              StepTimes(profile_entry_count(model_->program())));
  BlockRunner runner(model_->program(), *stream_, *this);
  GE_TRY(run());  // warm
  for (StepTimes& times : runs) {
    GE_TRY(runner.run(&times));
    GE_TRY(wait());
  }
  profile_ = summarize_profile(*model_, *current_, runs);
  return {};
}

int64_t Session::arena_bytes() const {
  return current_ ? current_->binding().arena_bytes : 0;
}

}  // namespace ge
