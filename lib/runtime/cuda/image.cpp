#include "runtime/cuda/image.h"

#include "kernels/registry.h"

namespace ge::cuda {
namespace {

constexpr int64_t kDefaultSharedMemory = 48 << 10;  // what a block may use without asking

// A cubin runs on GPUs of its own major number with the same or a higher minor one; sm_90a code on 9.0 alone.
bool fits(int32_t image_arch, int arch) {
  if (image_arch == 90) return arch == 90;
  return image_arch / 10 == arch / 10 && image_arch <= arch;
}

const EmbeddedImage* find_image(std::string_view name, int arch) {
  const EmbeddedImage* best = nullptr;
  for (const EmbeddedImage& image : embedded_images()) {
    if (image.name == name && fits(image.arch, arch) && (!best || image.arch > best->arch)) best = &image;
  }
  return best;
}

}  // namespace

Result<std::shared_ptr<Image>> Image::load(const Gpu& gpu, ByteSpan bytes, const std::string& name) {
  CUlibrary library = nullptr;
  Status status = check(
      *gpu.api, gpu.api->cuLibraryLoadData(&library, bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadData");
  if (!status.ok()) return std::move(status).take_error().with_frame("while loading device code " + name);
  return std::shared_ptr<Image>(new Image(gpu, library, name));
}

Image::~Image() {
  gpu_.api->cuLibraryUnload(library_);
}

Result<CUfunction> Image::function(const std::string& symbol, int64_t dynamic_shared_memory) const {
  const Driver& api = *gpu_.api;
  CUkernel kernel = nullptr;
  const CUresult result = api.cuLibraryGetKernel(&kernel, library_, symbol.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) {
    return fail(Code::unknown_kernel)
        .because("device code " + name_ + " has no entry " + symbol)
        .try_("compile the model again with this version");
  }
  GE_TRY(check(api, result, "cuLibraryGetKernel"));
  CUfunction function = nullptr;
  GE_CU(api, cuKernelGetFunction, &function, kernel);
  if (dynamic_shared_memory > kDefaultSharedMemory) {
    if (dynamic_shared_memory > gpu_.max_shared_memory) {
      return fail(Code::launch_refused)
          .because(symbol + " may ask for " + std::to_string(dynamic_shared_memory) +
                   " bytes of shared memory; this GPU allows " + std::to_string(gpu_.max_shared_memory));
    }
    GE_CU(api, cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          static_cast<int>(dynamic_shared_memory), kernel, gpu_.device);
  }
  return function;
}

Result<std::shared_ptr<Image>> ImageCache::embedded(std::string_view name) {
  const std::lock_guard lock(mutex_);
  for (const auto& [loaded_name, image] : loaded_) {
    if (loaded_name == name) return image;
  }
  const EmbeddedImage* found = find_image(name, gpu_.arch);
  if (!found) {
    return fail(Code::no_target)
        .because("this build has no code of " + std::string(name) + " for sm_" + std::to_string(gpu_.arch))
        .try_("build with -DGE_CUDA_ARCHS naming this GPU's architecture");
  }
  GE_ASSIGN(auto image, Image::load(gpu_, std::as_bytes(found->bytes), std::string(name)));
  loaded_.emplace_back(name, image);
  return image;
}

Result<std::shared_ptr<Image>> ImageCache::from_plan(const std::string& hash, ByteSpan bytes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(from_plans_, [](const auto& entry) { return entry.second.expired(); });
  for (const auto& [loaded_hash, weak] : from_plans_) {
    if (loaded_hash != hash) continue;
    if (auto image = weak.lock()) return image;
  }
  GE_ASSIGN(auto image, Image::load(gpu_, bytes, "of the plan"));
  from_plans_.emplace_back(hash, image);
  return image;
}

}  // namespace ge::cuda
