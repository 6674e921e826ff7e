#include "runtime/cache_sweep.h"

namespace ge {

Status CacheSweep::prepare(Device& device, Stream& stream) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  GE_ASSIGN(memory_, device.create_memory());
  GE_TRY(memory_->grow(kBytes));
  TensorView view;
  view.data = memory_->base();
  view.dtype = DType::uint8;
  view.rank = 1;
  view.dims[0] = kBytes;
  view.strides[0] = 1;
  GE_ASSIGN(fill_, stream.bind_fill(view, 0));
  return {};
}

}  // namespace ge
