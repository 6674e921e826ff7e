#include "runtime/cpu/kernel.h"

#include "contract/args_pack.h"
#include "runtime/cpu/bytecode_run.h"
#include "runtime/cpu/onednn_library.h"
#include "runtime/cpu/stream.h"

namespace ge::cpu {
namespace {

class BuiltinLaunch : public DeviceStep {
 public:
  BuiltinLaunch(CpuEntry entry, ByteBuffer args, const LaunchContext& context)
      : entry_(entry), args_(std::move(args)), context_(context) {}
  Status enqueue(Stream& stream) override {
    const Scratch::Launch launch(static_cast<CpuStream&>(stream).scratch());
    entry_(args_.data(), context_);
    return {};
  }

 protected:
  CpuEntry entry_;
  ByteBuffer args_;
  LaunchContext context_;
};

// The same on the oneDNN module, with the row's own function behind it.
class OnednnLaunch : public BuiltinLaunch {
 public:
  OnednnLaunch(CpuEntry entry, ByteBuffer args, const LaunchContext& context, const onednn::Module& module)
      : BuiltinLaunch(entry, std::move(args), context), module_(module) {}
  ~OnednnLaunch() override {
    if (step_ != nullptr) module_.free(step_);
  }
  // The module may leave this launch to the row's function.
  void make(std::string_view kernel) {
    step_ = module_.make(std::string(kernel).c_str(), args_.data(), context_.threads);
  }
  Status enqueue(Stream& stream) override {
    if (step_ != nullptr && module_.run(step_, context_)) return {};
    return BuiltinLaunch::enqueue(stream);
  }
  const char* library() const override { return step_ != nullptr ? "oneDNN" : nullptr; }

 private:
  const onednn::Module& module_;
  void* step_ = nullptr;
};

class BuiltinKernel : public Kernel {
 public:
  explicit BuiltinKernel(const LaunchTableEntry& entry) : entry_(entry) {}
  Result<std::unique_ptr<DeviceStep>> bind(const LaunchSite& site, Stream& stream) override {
    ByteBuffer args = ByteBuffer::allocate(entry_.desc.args_size);
    if (!args.data() && entry_.desc.args_size > 0) return fail(Code::out_of_memory);
    GE_TRY(pack_args(entry_.desc, site.operands, site.choice->attrs, site.device_block, args.span(),
                     site.launch));
    const LaunchContext context = static_cast<CpuStream&>(stream).context(site.launch);
    if (may_use_onednn(site)) {
      GE_ASSIGN(const onednn::Module* module, onednn_library());
      if (module != nullptr) {
        auto step = std::make_unique<OnednnLaunch>(entry_.cpu, std::move(args), context, *module);
        step->make(entry_.row->name);
        return std::unique_ptr<DeviceStep>(std::move(step));
      }
    }
    return std::unique_ptr<DeviceStep>(std::make_unique<BuiltinLaunch>(entry_.cpu, std::move(args), context));
  }

 private:
  // By name: the rows that the module knows.
  bool may_use_onednn(const LaunchSite& site) const {
    return site.bound != nullptr && site.bound->flops >= kOnednnFlops &&
           (entry_.row->name == "dot_blocked_f32" || entry_.row->name == "conv_gemm_f32");
  }
  const LaunchTableEntry& entry_;
};

class LoopLaunch : public DeviceStep {
 public:
  LoopLaunch(PreparedLoop loop, const LaunchContext& context) : loop_(std::move(loop)), context_(context) {}
  Status enqueue(Stream& stream) override {
    const Scratch::Launch launch(static_cast<CpuStream&>(stream).scratch());
    loop_.run(context_);
    return {};
  }

 private:
  PreparedLoop loop_;
  LaunchContext context_;
};

// Its program lives in the model's PlanKernels.
class LoopKernel : public Kernel {
 public:
  explicit LoopKernel(const LoopProgram& program) : program_(program) {}
  Result<std::unique_ptr<DeviceStep>> bind(const LaunchSite& site, Stream& stream) override {
    GE_ASSIGN(PreparedLoop loop, PreparedLoop::prepare(program_, site.operands));
    static_cast<CpuStream&>(stream).scratch().reserve(loop.scratch_bytes());
    return std::unique_ptr<DeviceStep>(
        std::make_unique<LoopLaunch>(std::move(loop), static_cast<CpuStream&>(stream).context(site.launch)));
  }

 private:
  const LoopProgram& program_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> resolve_kernel(const PlanHandle& plan, const PlanKernels& kernels,
                                               uint32_t index) {
  const KernelRef& ref = plan.plan().kernels[index];
  if (kernels.loops[index])
    return std::unique_ptr<Kernel>(std::make_unique<LoopKernel>(*kernels.loops[index]));
  const LaunchTableEntry* entry = plan.launch_table().find(ref.name, ref.revision);
  if (!entry || !entry->cpu)
    return fail(Code::unknown_kernel).because(ref.name + " revision " + std::to_string(ref.revision));
  return std::unique_ptr<Kernel>(std::make_unique<BuiltinKernel>(*entry));
}

Result<std::unique_ptr<Kernel>> resolve_product(DType dtype) {
  static LaunchTable table;
  const KernelRow* row = find_kernel_row("dot_blocked_f32");
  if (dtype != DType::float32 || row == nullptr)
    return fail(Code::launch_refused).because("no fast product of " + std::string(name_of(dtype)));
  return std::unique_ptr<Kernel>(std::make_unique<BuiltinKernel>(*table.find(row->name, row->revision)));
}

}  // namespace ge::cpu
