#include "runtime/cuda/kernel.h"

#include <algorithm>
#include <cstring>

#include "contract/args_pack.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/stream.h"
#include "runtime/cuda/tensor_map.h"

namespace ge::cuda {
namespace {

// A launch with its configuration and arguments; the stream alone is filled in when it is enqueued.
class GenericLaunch : public DeviceStep {
 public:
  GenericLaunch(std::shared_ptr<const Image> image, CUfunction function, ByteBuffer args,
                const LaunchSite& site, bool dependent)
      : image_(std::move(image)), function_(function), args_(std::move(args)) {
    const BoundLaunch& bound = *site.bound;
    config_.gridDimX = static_cast<unsigned>(bound.grid[0]);
    config_.gridDimY = static_cast<unsigned>(bound.grid[1]);
    config_.gridDimZ = static_cast<unsigned>(bound.grid[2]);
    config_.blockDimX = static_cast<unsigned>(bound.block[0]);
    config_.blockDimY = static_cast<unsigned>(bound.block[1]);
    config_.blockDimZ = static_cast<unsigned>(bound.block[2]);
    config_.sharedMemBytes = static_cast<unsigned>(bound.dynamic_shared_memory);
    if (bound.cluster != std::array<int64_t, 3>{1, 1, 1}) add_cluster(bound);
    if (site.choice->cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1;
    if (dependent)
      add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
          .value.programmaticStreamSerializationAllowed = 1;
    config_.attrs = attributes_;
  }
  Status enqueue(Stream& stream) override {
    auto& s = static_cast<CudaStream&>(stream);
    CUlaunchConfig config = config_;
    config.hStream = s.target();
    void* parameters[] = {args_.data()};
    GE_CU(*s.gpu().api, cuLaunchKernelEx, &config, function_, args_.size() > 0 ? parameters : nullptr,
          nullptr);
    return {};
  }

 private:
  CUlaunchAttribute& add(CUlaunchAttributeID id) {
    CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
    attribute.id = id;
    return attribute;
  }
  void add_cluster(const BoundLaunch& bound) {
    auto& dims = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value.clusterDim;
    dims.x = static_cast<unsigned>(bound.cluster[0]);
    dims.y = static_cast<unsigned>(bound.cluster[1]);
    dims.z = static_cast<unsigned>(bound.cluster[2]);
  }
  std::shared_ptr<const Image> image_;
  CUfunction function_;
  ByteBuffer args_;
  CUlaunchConfig config_{};
  CUlaunchAttribute attributes_[3]{};
};

class GenericKernel : public Kernel {
 public:
  GenericKernel(const Gpu& gpu, std::shared_ptr<const Image> image, CUfunction function,
                const KernelDesc& desc)
      : gpu_(gpu), image_(std::move(image)), function_(function), desc_(desc) {}
  Result<std::unique_ptr<DeviceStep>> bind(const LaunchSite& site, Stream&) override {
    ByteBuffer args = ByteBuffer::allocate(desc_.args_size);
    if (!args.data() && desc_.args_size > 0) return fail(Code::out_of_memory);
    GE_TRY(pack_args(desc_, site.operands, site.choice->attrs, site.device_block, args.span(), site.launch));
    GE_TRY(encode_tensor_maps(gpu_, desc_, site.operands, site.choice->attrs, args.span()));
    return std::unique_ptr<DeviceStep>(std::make_unique<GenericLaunch>(
        image_, function_, std::move(args), site, site.dependent_launch && desc_.waits_for_predecessor));
  }

 private:
  const Gpu& gpu_;
  std::shared_ptr<const Image> image_;
  CUfunction function_;
  const KernelDesc& desc_;
};

std::string name_of(const KernelRef& ref) {
  return ref.name + " revision " + std::to_string(ref.revision);
}

Result<std::unique_ptr<Kernel>> make_generic(const Gpu& gpu, std::shared_ptr<Image> image,
                                             const KernelDesc& desc) {
  GE_ASSIGN(const CUfunction function, image->function(desc.symbol, desc.limits.dynamic_shared_memory));
  return std::unique_ptr<Kernel>(std::make_unique<GenericKernel>(gpu, std::move(image), function, desc));
}

Result<std::unique_ptr<Kernel>> resolve_generated(const Gpu& gpu, ImageCache& images, const PlanHandle& plan,
                                                  const KernelRef& ref) {
  if (plan.options().trust_builtin_only) {
    return fail(Code::code_not_trusted)
        .because(ref.name + " was generated for this plan")
        .try_("run without --trust builtin");
  }
  const ge::Image& record = plan.plan().images[ref.image];
  const ByteSpan bytes = plan.file().code.span().subspan(record.offset, record.size_bytes);
  GE_ASSIGN(auto image, images.from_plan(record.hash, bytes));
  return make_generic(gpu, std::move(image), ref.generated.front());
}

}  // namespace

Result<std::unique_ptr<Kernel>> resolve_kernel(const Gpu& gpu, ImageCache& images, const PlanHandle& plan,
                                               const PlanKernels&, uint32_t index) {
  const KernelRef& ref = plan.plan().kernels[index];
  if (ref.kind == KernelKind::kGenerated) return resolve_generated(gpu, images, plan, ref);
  const LaunchTableEntry* entry = plan.launch_table().find(ref.name, ref.revision);
  if (!entry || entry->desc.device != KernelDevice::kCuda)
    return fail(Code::unknown_kernel).because(name_of(ref));
  if (ref.kind == KernelKind::kLibrary) return resolve_cublaslt(gpu, entry->desc);
  if (entry->row->only_arch != 0 && entry->row->only_arch != gpu.arch) {
    return fail(Code::no_target)
        .because(ref.name + " runs on sm_" + std::to_string(entry->row->only_arch) +
                 " alone, this GPU is sm_" + std::to_string(gpu.arch))
        .try_("compile the model for this GPU");
  }
  GE_ASSIGN(auto image, images.embedded(entry->row->image));
  return make_generic(gpu, std::move(image), entry->desc);
}

}  // namespace ge::cuda
