// Launches against the kernels they name, and which memory each block may write. Entry: verify_plan.
#include <algorithm>
#include <set>
#include <string>

#include "contract/args_pack.h"
#include "contract/hash.h"
#include "contract/plan_expr_check.h"
#include "contract/plan_verify.h"

namespace ge {
namespace {

Diagnostic malformed(const std::string& path, std::string why) {
  return fail(Code::plan_malformed).in(path).because(std::move(why));
}
std::string child(const std::string& path, const char* name, size_t index) {
  return path + "/" + name + "/" + std::to_string(index);
}

Status check_image_hashes(const Plan& plan, ByteSpan code) {
  for (size_t i = 0; i < plan.images.size(); ++i) {
    const Image& image = plan.images[i];
    if (hash128_hex(code.subspan(image.offset, image.size_bytes)) != image.hash) {
      return fail(Code::plan_checksum)
          .in(child("", "images", i))
          .because("the code is not the one that the plan names");
    }
  }
  return {};
}

// A loop program and the description that stands beside it must say the same; its arguments are its operands'
// views in order.
const char* loop_fault(const LoopProgram& loop, const KernelDesc& desc) {
  if (loop.operands.size() != desc.operands.size())
    return "it differs from its description in the number of operands";
  if (desc.args.size() != desc.operands.size() || desc.args_size != desc.args.size() * sizeof(TensorView)) {
    return "its arguments are not the views of its operands in order";
  }
  const int rank = loop.outer_rank + loop.row_rank;
  for (size_t i = 0; i < loop.operands.size(); ++i) {
    const OperandDesc& o = desc.operands[i];
    const ArgDesc& arg = desc.args[i];
    if (arg.source != ArgSource::kView || arg.operand != static_cast<int>(i) ||
        arg.offset != i * sizeof(TensorView)) {
      return "its arguments are not the views of its operands in order";
    }
    if (o.role != (loop.operands[i].output ? OperandRole::kOut : OperandRole::kIn))
      return "an operand's role differs from its description";
    if (o.dtypes.bits() != DTypeSet{loop.operands[i].dtype}.bits())
      return "an operand's dtype differs from its description";
    if (o.min_rank != rank || o.max_rank != rank || o.optional)
      return "an operand's rank differs from its description";
  }
  return nullptr;
}

Status load_loops(const Plan& plan, ByteSpan code, PlanKernels& kernels) {
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelRef& kernel = plan.kernels[i];
    if (kernel.kind != KernelKind::kGenerated || kernel.generated[0].device != KernelDevice::kCpu) continue;
    const std::string path = child("", "kernels", i);
    const Image& image = plan.images[kernel.image];
    auto loop = decode_loop(code.subspan(image.offset, image.size_bytes));
    const Status fits = loop.ok() ? verify_loop(*loop) : Status(std::move(loop).take_error());
    if (!fits.ok()) return malformed(path, fits.error().first().message + ": " + fits.error().first().found);
    if (const char* why = loop_fault(*loop, kernel.generated[0]))
      return malformed(path, std::string("loop program: ") + why);
    kernels.loops[i] = std::move(*loop);
  }
  return {};
}

Status resolve(const Plan& plan, const KernelResolver& resolver, PlanKernels& kernels) {
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelRef& kernel = plan.kernels[i];
    KernelEntry& entry = kernels.entries[i];
    if (kernel.kind == KernelKind::kGenerated) {
      entry.desc = &kernel.generated[0];
      continue;
    }
    entry = resolver(kernel.name, kernel.revision);
    if (entry.desc && entry.desc->kind != kernel.kind)
      return malformed(child("", "kernels", i), "it is of another kind here");
  }
  return {};
}

// Everything up to the kernels that are not in the plan.
Status load_contents(const Plan& plan, ByteSpan code, PlanKernels& kernels) {
  uint64_t weights = 0;
  if (!plan.blobs.empty()) weights = plan.blobs.back().offset + plan.blobs.back().size_bytes;
  GE_TRY(verify_structure(plan, code.size(), weights));
  GE_TRY(check_image_hashes(plan, code));
  kernels.entries.resize(plan.kernels.size());
  kernels.loops.resize(plan.kernels.size());
  return load_loops(plan, code, kernels);
}

enum class Where : uint8_t { kPrepare, kRun };

class LaunchCheckPass {
 public:
  LaunchCheckPass(const Plan& plan, const PlanKernels& kernels, const Program& program, std::string path)
      : plan_(plan),
        kernels_(kernels),
        p_(program),
        path_(std::move(path)),
        target_(*parse_target(program.target)) {}

  Status run() {
    if (uses_symbols(p_.prepare, p_.exprs)) return malformed(path_ + "/prepare", "it may not depend on dims");
    GE_TRY(block(p_.prepare, Where::kPrepare, path_ + "/prepare"));
    GE_TRY(block(p_.run, Where::kRun, path_ + "/run"));
    for (size_t i = 0; i < p_.blocks.size(); ++i)
      GE_TRY(block(p_.blocks[i], Where::kRun, child(path_, "blocks", i)));
    if (missing_.empty()) return {};
    std::string list;
    for (const std::string& name : missing_) list += (list.empty() ? "" : ", ") + name;
    return fail(Code::unknown_kernel)
        .in(path_)
        .because(list)
        .try_("use the ge that made this plan, or compile the model again with this one");
  }

 private:
  Status block(const Block& block, Where where, const std::string& path) {
    for (size_t i = 0; i < block.steps.size(); ++i) {
      const std::string at = child(path, "steps", i);
      GE_TRY(step(block.steps[i], where, at));
      if (block.steps[i].kind != StepKind::kLaunch || !block.steps[i].launch[0].dependent_launch) continue;
      if (i == 0 || block.steps[i - 1].kind != StepKind::kLaunch)
        return malformed(at + "/launch/dependent_launch", "no launch stands before it");
      GE_TRY(one_waits(block.steps[i].launch[0], at + "/launch/dependent_launch"));
    }
    return {};
  }
  // Of a dependent launch's kernels those start early that wait themselves, which no GPU before sm_90 can;
  // the executor starts the others as any launch. Where none waits the plan's writer was mistaken.
  Status one_waits(const Launch& l, const std::string& path) {
    if (target_.arch < 90) return malformed(path, "the target has no dependent launches");
    const KernelDesc* last = nullptr;
    for (const Choice& c : l.choices) {
      last = kernels_.entries[c.kernel].desc;
      if (!last || last->waits_for_predecessor) return {};
    }
    return malformed(path, "kernel \"" + last->name + "\" does not wait for its predecessor");
  }
  Status step(const Step& s, Where where, const std::string& path) {
    switch (s.kind) {
      case StepKind::kLaunch:
        return launch(s.launch[0], where, path + "/launch");
      case StepKind::kCopy:
        GE_TRY(readable(s.copy[0].from, where, path + "/copy/from"));
        return writable(s.copy[0].to, where, path + "/copy/to");
      case StepKind::kFill:
        return writable(s.fill[0].to, where, path + "/fill/to");
      case StepKind::kReadDims:
      case StepKind::kIf:
      case StepKind::kLoop:
        break;
    }
    if (where == Where::kPrepare) return malformed(path, "prepare holds launches, copies and fills only");
    if (s.kind == StepKind::kLoop) {
      for (size_t i = 0; i < s.loop[0].carried.size(); ++i)
        GE_TRY(writable(s.loop[0].carried[i], where, child(path, "carried", i)));
    }
    return {};
  }

  // prepare reads weights and what it prepared; run reads anything.
  Status readable(const TensorRef& t, Where where, const std::string& path) {
    const Region region = p_.buffers[t.buffer].region;
    const bool allowed = where == Where::kRun || region == Region::kWeights || region == Region::kPrepared;
    return allowed ? Status() : Status(malformed(path, "prepare may read weights and prepared buffers only"));
  }
  Status writable(const TensorRef& t, Where where, const std::string& path) {
    const Region region = p_.buffers[t.buffer].region;
    if (where == Where::kPrepare) {
      return region == Region::kPrepared ? Status()
                                         : Status(malformed(path, "prepare may write prepared buffers only"));
    }
    const bool allowed = region == Region::kOutput || region == Region::kArena || region == Region::kHost;
    return allowed ? Status()
                   : Status(malformed(
                         path, "run may not write inputs, weights, prepared buffers or the device block"));
  }

  Status launch(const Launch& l, Where where, const std::string& path) {
    for (size_t i = 0; i < l.choices.size(); ++i) {
      const Choice& c = l.choices[i];
      const std::string at = child(path, "choices", i);
      GE_TRY(check_kernel_use(c.kernel, target_, c.operands, c.attrs, where, at));
      const KernelDesc* desc = kernels_.entries[c.kernel].desc;
      if (desc) GE_TRY(check_configuration(c, *desc, at));
    }
    for (size_t i = 0; i < l.shadow.size(); ++i) {
      const Shadow& s = l.shadow[i];
      const std::string at = child(path, "shadow", i);
      GE_TRY(check_kernel_use(s.kernel, TargetName{}, s.operands, s.attrs, Where::kRun, at));
      GE_TRY(shadow_writes_host(s, at));
    }
    return {};
  }
  Status check_configuration(const Choice& c, const KernelDesc& desc, const std::string& path) {
    if (c.block[0] * c.block[1] * c.block[2] > desc.limits.max_threads)
      return malformed(path, "its block has more threads than the kernel allows");
    if (c.dynamic_shared_memory == kNoExpr || desc.limits.dynamic_shared_memory > 0 ||
        p_.exprs.uses_symbols(c.dynamic_shared_memory))
      return {};
    const auto bytes = p_.exprs.evaluate(c.dynamic_shared_memory, {});
    return bytes.ok() && *bytes == 0 ? Status()
                                     : Status(malformed(path, "the kernel takes no dynamic shared memory"));
  }
  Status shadow_writes_host(const Shadow& s, const std::string& path) {
    const KernelDesc* desc = kernels_.entries[s.kernel].desc;
    for (size_t i = 0; desc && i < s.operands.size(); ++i) {
      const bool written = desc->operands[i].role != OperandRole::kIn && s.operands[i].buffer != kNoBuffer;
      if (written && p_.buffers[s.operands[i].buffer].region != Region::kHost)
        return malformed(path, "a reference launch may write host scratch only");
    }
    return {};
  }

  Status check_kernel_use(uint32_t index, TargetName target, const std::vector<TensorRef>& operands,
                          const Attrs& attrs, Where where, const std::string& path) {
    const KernelRef& ref = plan_.kernels[index];
    const KernelDesc* desc = kernels_.entries[index].desc;
    if (!desc) {
      missing_.insert(ref.name + " (revision " + std::to_string(ref.revision) + ")");
      return {};
    }
    if (desc->device != target.device)
      return malformed(path, "kernel \"" + ref.name + "\" runs on another device than the target");
    if (desc->limits.min_arch > target.arch)
      return malformed(path, "kernel \"" + ref.name + "\" needs a newer GPU than the target");
    if (ref.image != kNoIndex && target.device == KernelDevice::kCuda)
      GE_TRY(check_image_arch(plan_.images[ref.image], target, path));
    const Status attrs_fit = check_attrs(*desc, attrs);
    if (!attrs_fit.ok()) return malformed(path, attrs_fit.error().first().found);
    if (operands.size() != desc->operands.size()) {
      return malformed(path, "kernel \"" + ref.name + "\" takes " + std::to_string(desc->operands.size()) +
                                 " operands, found " + std::to_string(operands.size()));
    }
    for (size_t i = 0; i < operands.size(); ++i)
      GE_TRY(operand(desc->operands[i], operands[i], where, target, child(path, "operands", i)));
    return early_operands(operands, attrs, where, path);
  }
  // What a kernel reads before its predecessor is done must not be written while the program runs.
  Status early_operands(const std::vector<TensorRef>& operands, const Attrs& attrs, Where where,
                        const std::string& path) {
    const auto early = static_cast<uint64_t>(attr_int(attrs, "early", 0));
    for (size_t i = 0; i < 64 && (early >> i) != 0; ++i) {
      if (((early >> i) & 1) == 0) continue;
      const bool there = i < operands.size() && operands[i].buffer != kNoBuffer;
      const Region region = there ? p_.buffers[operands[i].buffer].region : Region::kArena;
      if (where != Where::kRun || (region != Region::kWeights && region != Region::kPrepared))
        return malformed(path,
                         "operand " + std::to_string(i) + " is read early and is no constant of the run");
    }
    return {};
  }
  // A cubin runs on its own arch (a later minor one of the same major too); PTX on its own and later ones.
  Status check_image_arch(const Image& image, TargetName target, const std::string& path) {
    const int32_t arch = parse_target(image.arch)->arch;
    const bool fits = arch <= target.arch && (image.format == "ptx" || arch / 10 == target.arch / 10);
    return fits ? Status() : Status(malformed(path, "its code is for " + image.arch));
  }
  Status operand(const OperandDesc& o, const TensorRef& t, Where where, TargetName target,
                 const std::string& path) {
    if (t.buffer == kNoBuffer)
      return o.optional ? Status() : Status(malformed(path, "operand \"" + o.name + "\" is absent"));
    const auto rank = static_cast<int>(t.dims.size());
    if (!o.dtypes.contains(t.dtype))
      return malformed(path, "operand \"" + o.name + "\" cannot be " + std::string(name_of(t.dtype)));
    if (rank < o.min_rank || rank > o.max_rank)
      return malformed(path, "operand \"" + o.name + "\" cannot have rank " + std::to_string(rank));
    if (target.device == KernelDevice::kCuda && p_.buffers[t.buffer].region == Region::kHost) {
      return malformed(path, "a kernel on the GPU cannot reach host memory");
    }
    GE_TRY(readable_or_written(o.role, t, where, path));
    return {};
  }
  Status readable_or_written(OperandRole role, const TensorRef& t, Where where, const std::string& path) {
    return role == OperandRole::kIn ? readable(t, where, path) : writable(t, where, path);
  }

  const Plan& plan_;
  const PlanKernels& kernels_;
  const Program& p_;
  std::string path_;
  TargetName target_;
  std::set<std::string> missing_;
};

}  // namespace

Status verify_contents(const Plan& plan, ByteSpan code) {
  PlanKernels kernels;
  return load_contents(plan, code, kernels);
}

Result<PlanKernels> verify_plan(const Plan& plan, ByteSpan code, const KernelResolver& resolver,
                                uint32_t program) {
  PlanKernels kernels;
  GE_TRY(load_contents(plan, code, kernels));
  if (program != kAllPrograms && program >= plan.programs.size())
    return fail(Code::internal).say("no such program");
  GE_TRY(resolve(plan, resolver, kernels));
  for (uint32_t i = 0; i < plan.programs.size(); ++i) {
    if (program != kAllPrograms && program != i) continue;
    GE_TRY(LaunchCheckPass(plan, kernels, plan.programs[i], child("", "programs", i)).run());
  }
  return kernels;
}

}  // namespace ge
