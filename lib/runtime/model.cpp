#include "runtime/model.h"

#include <algorithm>

#include "contract/source_nodes.h"
#include "platform/clock.h"
#include "runtime/block_runner.h"
#include "runtime/load_weights.h"

namespace ge {
namespace {

double elapsed_us(int64_t since_ns) {
  return static_cast<double>(monotonic_ns() - since_ns) / 1000;
}

// The prepare block has one binding: it holds no dims.
class OneBinding : public BindingSource {
 public:
  explicit OneBinding(PreparedBinding& binding) : binding_(binding) {}
  PreparedBinding& current() override { return binding_; }
  Status rebind(std::span<const int64_t>) override {
    return fail(Code::plan_malformed).because("the prepare block reads dims");
  }

 private:
  PreparedBinding& binding_;
};

std::vector<std::vector<std::string>> dim_texts(const Program& program, const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Symbol& symbol : program.symbols) names.push_back(symbol.name);
  std::vector<std::vector<std::string>> texts;
  for (const Port& port : ports) {
    auto& axes = texts.emplace_back();
    for (ExprId dim : port.dims)
      axes.push_back(program.exprs.is_constant(dim) ? "" : program.exprs.to_string(dim, names));
  }
  return texts;
}

}  // namespace

Result<std::shared_ptr<Model>> Model::load(std::shared_ptr<PlanHandle> plan, std::shared_ptr<Device> device) {
  auto model = std::shared_ptr<Model>(new Model(std::move(plan), std::move(device)));
  const CurrentDevice current(*model->device_);
  GE_ASSIGN(model->program_, model->plan_->program_for(model->device_->target()));
  int64_t began = monotonic_ns();
  GE_TRY(model->verify());
  model->times_.verify_us = elapsed_us(began);
  began = monotonic_ns();
  GE_TRY(model->load_weights());
  model->times_.weights_us = elapsed_us(began);
  began = monotonic_ns();
  GE_TRY(model->resolve_kernels());
  model->times_.code_us = elapsed_us(began);
  began = monotonic_ns();
  GE_TRY(model->prepare());
  model->times_.prepare_us = elapsed_us(began);
  model->describe_ports();
  return model;
}

Result<PlanNeeds> Model::check(std::shared_ptr<PlanHandle> plan, std::shared_ptr<Device> device) {
  Model model(std::move(plan), std::move(device));
  const CurrentDevice current(*model.device_);
  GE_ASSIGN(model.program_, model.plan_->program_for(model.device_->target()));
  GE_TRY(model.verify());
  GE_TRY(model.resolve_kernels());
  const Program& program = model.program();
  GE_ASSIGN(const Binding binding, ge::bind(model.plan(), model.verified_, model.program_,
                                            optimal_symbols(program), model.device_->limits()));
  PlanNeeds needs;
  needs.target = program.target;
  needs.launches = std::count_if(program.run.steps.begin(), program.run.steps.end(),
                                 [](const Step& s) { return s.kind == StepKind::kLaunch; });
  for (size_t i = 0; i < model.resolved_.size(); ++i) {
    if (!model.resolved_[i]) continue;
    ++needs.kernels;
    needs.generated_kernels += model.plan().kernels[i].kind == KernelKind::kGenerated;
    needs.uses_library |= model.plan().kernels[i].kind == KernelKind::kLibrary;
  }
  needs.weights_bytes = place_blobs(model.plan(), program).size_bytes;
  needs.prepared_bytes = binding.prepared_bytes;
  needs.arena_bytes = binding.arena_bytes;
  for (const auto* ports : {&binding.inputs, &binding.outputs}) {
    for (const BoundPort& port : *ports) needs.io_bytes += port.size_bytes;
  }
  needs.free_bytes = model.device_->free_memory_bytes();
  const int64_t all = needs.weights_bytes + needs.prepared_bytes + needs.arena_bytes + needs.io_bytes;
  if (all > needs.free_bytes) {
    return fail(Code::device_memory)
        .because("the plan takes " + std::to_string(all) + " bytes; " + std::to_string(needs.free_bytes) +
                 " are free");
  }
  return needs;
}

Model::~Model() {
  const CurrentDevice current(*device_);
  resolved_.clear();
  prepared_.reset();
  weights_.reset();
}

Status Model::verify() {
  GE_ASSIGN(verified_,
            verify_plan(plan(), plan_->file().code.span(), plan_->launch_table().resolver(), program_));
  return {};
}

Status Model::resolve_kernels() {
  resolved_.resize(plan().kernels.size());
  ErrorList errors;
  std::vector<bool> seen(plan().kernels.size());
  for_each_launch(program(), [&](const Launch& launch) {
    for (const Choice& choice : launch.choices) {
      if (seen[choice.kernel]) continue;
      seen[choice.kernel] = true;
      auto kernel = device_->resolve(*plan_, verified_, choice.kernel);
      if (kernel.ok()) {
        resolved_[choice.kernel] = std::move(kernel).value();
      } else {
        errors.add(std::move(kernel).take_error());
      }
    }
  });
  return errors.take();
}

Status Model::load_weights() {
  BlobPlacement placement = place_blobs(plan(), program());
  GE_ASSIGN(weights_, device_->create_memory());
  if (placement.size_bytes > 0) {
    GE_TRY(weights_->grow(placement.size_bytes));
    GE_TRY(load_blobs(plan_->file(), placement, *device_, weights_->base()));
  }
  weights_bytes_ = placement.size_bytes;
  blob_offsets_ = std::move(placement.offsets);
  return {};
}

Status Model::prepare() {
  GE_ASSIGN(prepared_, device_->create_memory());
  GE_ASSIGN(Binding binding, bind_prepare(plan(), verified_, program_, device_->limits()));
  prepared_bytes_ = binding.prepared_bytes;
  if (prepared_bytes_ > 0) GE_TRY(prepared_->grow(prepared_bytes_));
  if (program().prepare.steps.empty()) return {};
  GE_ASSIGN(auto arena, device_->create_memory());
  if (binding.arena_bytes > 0) GE_TRY(arena->grow(binding.arena_bytes));
  GE_ASSIGN(auto stream, device_->create_stream({}));
  BufferAddresses addresses(program().buffers.size(), nullptr);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Buffer& buffer = program().buffers[i];
    if (buffer.region == Region::kWeights) addresses[i] = blob_address(buffer.blob);
    if (buffer.region == Region::kPrepared)
      addresses[i] = prepared_->base() + binding.buffers[i].offset_bytes;
    if (buffer.region == Region::kArena) addresses[i] = arena->base() + binding.buffers[i].offset_bytes;
    if (buffer.region == Region::kDeviceBlock) addresses[i] = static_cast<std::byte*>(stream->device_block());
  }
  GE_ASSIGN(auto prepared,
            PreparedBinding::make(*this, std::move(binding), std::move(addresses), *stream, true));
  OneBinding bindings(*prepared);
  GE_TRY(BlockRunner(program(), *stream, bindings).run());
  GE_TRY(stream->wait());
  GE_ASSIGN(const FaultRecord fault, stream->take_fault());
  if (fault.kind == 0) return {};
  const Step* step = find_step(program(), true, fault.launch);
  return fail(Code::index_out_of_range)
      .in(step ? join_nodes(source_nodes(*step)) : "")
      .because("index " + std::to_string(fault.value) + ", while preparing the weights");
}

void Model::describe_ports() {
  input_dims_ = dim_texts(program(), program().signature.inputs);
  output_dims_ = dim_texts(program(), program().signature.outputs);
}

}  // namespace ge
