#include "runtime/cache_sweep.h"

#include "runtime/dense_view.h"

namespace ge {

Status CacheSweep::prepare(Device& device, Stream& stream) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  GE_ASSIGN(memory_, device.create_memory());
  GE_TRY(memory_->grow(kBytes));
  GE_ASSIGN(fill_, stream.bind_fill(dense_view(memory_->base(), DType::uint8, {kBytes}), 0));
  return {};
}

}  // namespace ge
