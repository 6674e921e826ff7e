// Tensor maps (the descriptors of bulk tensor copies) inside argument structs. Entry: encode_tensor_maps.
#pragma once
#include <span>

#include "base/bytes.h"
#include "contract/args_pack.h"
#include "runtime/cuda/context.h"

namespace ge::cuda {

// Fills every kTensorMap field of `args`. Operand k's box is the attribute "box<k>" (elements per axis,
// outermost first, one for each axis of the view), its swizzle "swizzle<k>" (0, 32, 64 or 128 bytes). The
// map's innermost axis is the view's last dense one, the others follow from the last to the first.
// launch_refused where the driver takes no such map.
Status encode_tensor_maps(const Gpu& gpu, const KernelDesc& desc, std::span<const TensorView> operands,
                          const Attrs& attrs, MutableByteSpan args);

}  // namespace ge::cuda
