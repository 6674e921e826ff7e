#include "runtime/plan.h"

#include <optional>

#include "contract/plan_verify.h"
#include "platform/clock.h"

namespace ge {
namespace {

// Code for sm_80 runs on sm_86 and sm_89 too; sm_90 means sm_90a, which nothing else runs.
bool runs_on(std::string_view program_target, std::string_view device_target) {
  const auto program = parse_target(program_target);
  const auto device = parse_target(device_target);
  if (!program || !device || program->device != KernelDevice::kCuda || device->device != KernelDevice::kCuda)
    return false;
  return program->arch != 90 && program->arch / 10 == device->arch / 10 && program->arch <= device->arch;
}

}  // namespace

Result<std::shared_ptr<PlanHandle>> PlanHandle::open_file(const std::string& path,
                                                          const PlanOptions& options) {
  const int64_t began = monotonic_ns();
  return finish(read_plan_file(path), options, began);
}

Result<std::shared_ptr<PlanHandle>> PlanHandle::open_memory(ByteSpan bytes, const PlanOptions& options) {
  const int64_t began = monotonic_ns();
  return finish(read_plan_bytes(bytes), options, began);
}

Result<std::shared_ptr<PlanHandle>> PlanHandle::finish(Result<PlanFile> file, const PlanOptions& options,
                                                       int64_t began_ns) {
  if (!file.ok()) return std::move(file).take_error();
  const Section& weights = file->header.section(SectionKind::kWeights);
  GE_TRY(verify_structure(file->plan, file->code.size(), weights.size_bytes));
  auto handle = std::shared_ptr<PlanHandle>(new PlanHandle(std::move(file).value(), options));
  handle->read_us_ = static_cast<double>(monotonic_ns() - began_ns) / 1000;
  return handle;
}

Result<uint32_t> PlanHandle::program_for(const std::string& target) const {
  std::string targets;
  std::optional<uint32_t> best;
  for (uint32_t i = 0; i < plan().programs.size(); ++i) {
    const std::string& has = plan().programs[i].target;
    if (has == target) return i;
    if (runs_on(has, target) && (!best || plan().programs[*best].target < has)) best = i;
    targets += (targets.empty() ? "" : ", ") + has;
  }
  if (best) return *best;
  return fail(Code::no_target)
      .at(file_.source->name())
      .because("the device is " + target + "; the plan has " + targets)
      .try_("compile the model with -t " + target);
}

}  // namespace ge
