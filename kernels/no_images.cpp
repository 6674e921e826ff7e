// The embedded device code of a build without CUDA: none. Entry: embedded_images.
#include "kernels/registry.h"

namespace ge {

std::span<const EmbeddedImage> embedded_images() {
  return {};
}

}  // namespace ge
