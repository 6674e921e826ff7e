// Device code loaded into the driver. Entry: ImageCache (embedded images, once per device), Image (one loaded
// image). Loaded on demand: a program pays for the images its kernels stand in and for no other.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "runtime/cuda/context.h"

namespace ge::cuda {

class Image {
 public:
  // `bytes` is a cubin. driver_error where the driver refuses it (made for another GPU, damaged).
  static Result<std::shared_ptr<Image>> load(const Gpu& gpu, ByteSpan bytes, const std::string& name);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  // Looks up an entry and lets it use `dynamic_shared_memory` bytes. unknown_kernel where the image has no
  // such entry.
  Result<CUfunction> function(const std::string& symbol, int64_t dynamic_shared_memory) const;

 private:
  Image(const Gpu& gpu, CUlibrary library, std::string name)
      : gpu_(gpu), library_(library), name_(std::move(name)) {}
  const Gpu& gpu_;
  CUlibrary library_;
  std::string name_;
};

class ImageCache {
 public:
  explicit ImageCache(const Gpu& gpu) : gpu_(gpu) {}
  // The embedded image `name` for this GPU's architecture. no_target where this build has none that fits.
  Result<std::shared_ptr<Image>> embedded(std::string_view name);
  // An image that a plan carries, by its hash: many kernels stand in one image, and two plans may share one.
  Result<std::shared_ptr<Image>> from_plan(const std::string& hash, ByteSpan bytes);

 private:
  const Gpu& gpu_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<Image>>> loaded_;    // for the device's life
  std::vector<std::pair<std::string, std::weak_ptr<Image>>> from_plans_;  // while a model uses them
};

}  // namespace ge::cuda
