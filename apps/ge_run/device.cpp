#include "ge_run/device.h"

#include <cstdlib>

namespace ge {
namespace {

struct Choice {
  bool cuda = false;
  int32_t index = 0;
  std::string reason;
};

std::string targets_of(const ge_plan* plan) {
  std::string text;
  for (int32_t i = 0; i < ge_plan_target_count(plan); ++i)
    text += (i ? ", " : "") + std::string(ge_plan_target(plan, i));
  return text;
}

bool has_gpu_code(const ge_plan* plan) {
  for (int32_t i = 0; i < ge_plan_target_count(plan); ++i) {
    if (std::string(ge_plan_target(plan, i)).rfind("sm_", 0) == 0) return true;
  }
  return false;
}

Result<Choice> choose(const RunCommand& command, const ge_plan* plan) {
  if (command.device == "cpu") return Choice{false, 0, "as asked"};
  if (command.device != "auto") {
    const bool numbered = command.device.size() > 5;
    return Choice{true, numbered ? std::atoi(command.device.c_str() + 5) : 0, "as asked"};
  }
  if (plan == nullptr) {
    const bool gpu = status_of(ge_cuda_available()).ok();
    return Choice{gpu, 0, gpu ? "the first GPU" : "no GPU can be used here"};
  }
  if (!has_gpu_code(plan)) return Choice{false, 0, "the plan has no GPU code"};
  const bool has_cpu = ge_plan_find_target(plan, "cpu") >= 0;
  Status available = status_of(ge_cuda_available());
  if (!available.ok()) {
    if (!has_cpu) return std::move(available).take_error();
    const Diagnostic& d = available.error().first();
    return Choice{false, 0, d.message.empty() ? std::string(title_of(d.code)) + ": " + d.found : d.message};
  }
  std::string seen;
  for (int32_t i = 0; i < ge_cuda_device_count(); ++i) {
    const std::string target = "sm_" + std::to_string(ge_cuda_device_arch(i));
    if (ge_plan_find_target(plan, target.c_str()) >= 0)
      return Choice{true, i, "the plan has code for " + target};
    if (seen.find(target) == std::string::npos) seen += (seen.empty() ? "" : ", ") + target;
  }
  if (has_cpu) return Choice{false, 0, "the plan has code for " + targets_of(plan) + ", the GPU is " + seen};
  return fail(Code::no_target)
      .because("the plan has code for " + targets_of(plan) + ", the GPU is " + seen)
      .try_("compile the model with -t " + seen);
}

}  // namespace

Result<ChosenDevice> open_chosen_device(const RunCommand& command, const ge_plan* plan) {
  GE_ASSIGN(Choice choice, choose(command, plan));
  ge_device_options options{};
  options.size = sizeof options;
  options.kind = choice.cuda ? GE_DEVICE_CUDA : GE_DEVICE_CPU;
  options.index = choice.index;
  options.threads = command.threads;
  ge_device* device = nullptr;
  GE_TRY(status_of(ge_device_open(&options, &device)));
  ChosenDevice chosen{DevicePtr(device), choice.cuda ? "cuda:" + std::to_string(choice.index) : "cpu",
                      std::move(choice.reason)};
  return chosen;
}

}  // namespace ge
