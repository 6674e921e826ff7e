// Packs a kernel's argument struct from verified views and attributes. Entry: pack_args.
// The one packer: verifier, CPU and CUDA use it, so a plan never holds a size or a pointer twice.
#pragma once
#include "contract/kernel_desc.h"

namespace ge {

// Load-time check of a description by itself: offsets inside args_size, aligned, not overlapping; operands,
// axes and attrs exist; types fit their sources. plan_malformed otherwise.
Status check_desc(const KernelDesc& desc);
// Load-time check of attribute values against the description: present, typed, in range, no unknown ones.
Status check_attrs(const KernelDesc& desc, const Attrs& attrs);
// Bind-time check of views: dtype sets, ranks, alignment of each view's address (given its buffer is 256-byte
// aligned).
Status check_operands(const KernelDesc& desc, std::span<const TensorView> operands);
// `launch` is the number that a fault names: steps counted over the run block, then Program::blocks in order.
// Fills `out` (desc.args_size bytes, zeroed first). Tensor maps are left zero for the CUDA side to encode.
// Refuses a value that does not fit its field (a dim over INT32_MAX in a kI32).
Status pack_args(const KernelDesc& desc, std::span<const TensorView> operands, const Attrs& attrs,
                 void* device_block, std::span<std::byte> out, uint32_t launch = 0);

}  // namespace ge
