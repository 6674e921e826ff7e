#include "runtime/prepared_binding.h"

#include <algorithm>
#include <string>

#include "contract/source_nodes.h"

namespace ge {
namespace {

bool is_control(StepKind kind) {
  return kind == StepKind::kReadDims || kind == StepKind::kIf || kind == StepKind::kLoop;
}

bool is_empty(const TensorView& view) {
  return std::any_of(view.dims, view.dims + view.rank, [](int64_t d) { return d == 0; });
}

// A kernel can note a fault only where it knows the device block.
bool may_fault(const KernelDesc& desc) {
  return std::any_of(desc.args.begin(), desc.args.end(),
                     [](const ArgDesc& arg) { return arg.source == ArgSource::kDeviceBlock; });
}

}  // namespace

Result<std::unique_ptr<PreparedBinding>> PreparedBinding::make(const Model& model, Binding binding,
                                                               BufferAddresses addresses, Stream& stream,
                                                               bool prepare_only) {
  auto made =
      std::unique_ptr<PreparedBinding>(new PreparedBinding(model, std::move(binding), std::move(addresses)));
  const Program& program = model.program();
  uint32_t entry = 0;
  if (prepare_only) {
    GE_TRY(made->prepare_block(program.prepare, made->binding_.prepare, stream, entry));
    return made;
  }
  made->blocks_.reserve(program.blocks.size() + 1);
  GE_TRY(made->prepare_block(program.run, made->binding_.run, stream, entry));
  for (size_t i = 0; i < program.blocks.size(); ++i) {
    GE_TRY(made->prepare_block(program.blocks[i], made->binding_.blocks[i], stream, entry));
  }
  return made;
}

TensorView PreparedBinding::complete(const BoundView& bound) const {
  TensorView view = bound.view;
  view.data = bound.buffer == kNoBuffer ? nullptr : addresses_[bound.buffer] + bound.offset_bytes;
  return view;
}

Status PreparedBinding::prepare_block(const Block& block, const BoundBlock& bound, Stream& stream,
                                      uint32_t& entry) {
  PreparedBlock prepared{&block, &bound, {}};
  prepared.groups.emplace_back();
  bool after_launch = false;  // the step before this one, of those that do something, is a launch
  for (uint32_t i = 0; i < block.steps.size(); ++i, ++entry) {
    const Step& step = block.steps[i];
    Group& group = prepared.groups.back();
    if (is_control(step.kind)) {
      group.control_step = i;
      after_launch = false;
      prepared.groups.emplace_back();
      continue;
    }
    auto made = make_step(step, bound[i], stream, entry, after_launch);
    if (!made.ok()) {
      std::string frame = "while preparing step " + std::to_string(i);
      for (const std::string& node : source_nodes(step)) frame += " " + node;
      return std::move(made).take_error().with_frame(frame);
    }
    if (!*made) continue;  // nothing to do under this binding
    after_launch = step.kind == StepKind::kLaunch;
    group.straight.steps.push_back(std::move(made).value());
    group.straight.entries.push_back(entry);
    if (step.kind == StepKind::kLaunch) {
      const KernelDesc* desc = model_.kernels().entries[bound[i].launch.kernel].desc;
      group.straight.reads_fault |= desc && may_fault(*desc);
    }
  }
  blocks_.push_back(std::move(prepared));
  return {};
}

Result<std::unique_ptr<DeviceStep>> PreparedBinding::make_step(const Step& step, const BoundStep& bound,
                                                               Stream& stream, uint32_t entry,
                                                               bool after_launch) const {
  switch (step.kind) {
    case StepKind::kLaunch:
      return make_launch(step.launch.front(), bound.launch, stream, entry, after_launch);
    case StepKind::kCopy: {
      const TensorView from = view(bound, 0), to = view(bound, 1);
      if (is_empty(to) || from.data == to.data) return std::unique_ptr<DeviceStep>();
      return stream.bind_copy(from, to);
    }
    case StepKind::kFill: {
      const TensorView to = view(bound, 0);
      if (is_empty(to)) return std::unique_ptr<DeviceStep>();
      return stream.bind_fill(to, step.fill.front().bits);
    }
    default:
      return fail(Code::internal).because("a control step is not bound to the device");
  }
}

Result<std::unique_ptr<DeviceStep>> PreparedBinding::make_launch(const Launch& launch,
                                                                 const BoundLaunch& bound, Stream& stream,
                                                                 uint32_t entry, bool after_launch) const {
  if (bound.skip) return std::unique_ptr<DeviceStep>();
  std::vector<TensorView> operands;
  operands.reserve(bound.view_count);
  for (uint32_t i = 0; i < bound.view_count; ++i)
    operands.push_back(complete(binding_.views[bound.first_view + i]));
  LaunchSite site;
  site.operands = operands;
  site.choice = &launch.choices[bound.choice];
  site.bound = &bound;
  site.dependent_launch = launch.dependent_launch && after_launch;
  site.launch = entry;
  site.device_block = stream.device_block();
  return model_.kernel(bound.kernel).bind(site, stream);
}

const Step* find_step(const Program& program, bool prepare, uint32_t entry) {
  const auto in = [&entry](const Block& block) -> const Step* {
    if (entry < block.steps.size()) return &block.steps[entry];
    entry -= static_cast<uint32_t>(block.steps.size());
    return nullptr;
  };
  if (prepare) return in(program.prepare);
  if (const Step* step = in(program.run)) return step;
  for (const Block& block : program.blocks) {
    if (const Step* step = in(block)) return step;
  }
  return nullptr;
}

}  // namespace ge
